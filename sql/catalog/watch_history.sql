-- name: CustomerFind :one
-- CustomerFind tells whether there is such a customer.
SELECT c.has_customer::boolean AS has_customer FROM accounts.has_customer(@customer_id) AS c (has_customer);

-- name: WatchHistoryDelete :execrows
-- WatchHistoryDelete forgets what the user has watched: of one video, or of all
-- when video_id is null.
DELETE FROM catalog.watch_history
WHERE user_id = @user_id AND (sqlc.narg('video_id')::text IS NULL OR video_id = sqlc.narg('video_id')::text);

-- name: WatchHistoryList :many
-- WatchHistoryList returns what the user has watched, newest first: of one video,
-- or of all when video_id is null.
SELECT video_id, timeline, updated_at FROM catalog.watch_history
WHERE user_id = @user_id AND (sqlc.narg('video_id')::text IS NULL OR video_id = sqlc.narg('video_id')::text)
ORDER BY updated_at DESC, video_id;

-- name: WatchHistoryListOfCustomer :many
-- WatchHistoryListOfCustomer returns what a customer has watched with what the videos are called, newest first.
SELECT w.video_id, w.timeline, w.updated_at, v.title, v.duration
FROM catalog.watch_history w JOIN catalog.videos v ON v.id = w.video_id
WHERE w.user_id = @user_id
ORDER BY w.updated_at DESC, w.video_id LIMIT @qty OFFSET @skip;

-- name: WatchHistoryPut :one
-- WatchHistoryPut keeps how far the user has watched. A row that was there has
-- been locked by this transaction, which xmax then names; of a new one it is 0.
-- A play that it names goes on; one that is over is told apart by who ended it.
WITH play AS (
    UPDATE catalog.plays p SET seen_at = greatest(p.seen_at, @now), video_id = @video_id
    WHERE p.id = sqlc.narg('play_id')::text AND p.user_id = @user_id AND p.ended_at IS NULL AND p.seen_at > @silent_since
    RETURNING p.id
)
INSERT INTO catalog.watch_history (user_id, video_id, timeline, updated_at)
VALUES (@user_id, @video_id, @timeline, @now)
ON CONFLICT (user_id, video_id) DO UPDATE SET timeline = excluded.timeline, updated_at = excluded.updated_at
RETURNING (xmax = 0)::boolean AS upserted,
    (SELECT count(*) > 0 FROM play)::boolean AS play_goes_on,
    (SELECT count(*) > 0 FROM catalog.plays e
     WHERE e.user_id = @user_id AND (e.id = sqlc.narg('play_id')::text AND e.ended_at IS NOT NULL
                                     OR e.ended_play_id = sqlc.narg('play_id')::text))::boolean AS play_was_ended;
