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
INSERT INTO catalog.watch_history (user_id, video_id, timeline, updated_at)
VALUES (@user_id, @video_id, @timeline, @now)
ON CONFLICT (user_id, video_id) DO UPDATE SET timeline = excluded.timeline, updated_at = excluded.updated_at
RETURNING (xmax = 0)::boolean AS upserted;
