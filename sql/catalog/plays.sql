-- name: PlayDeleteAll :exec
-- PlayDeleteAll forgets where a user has played.
DELETE FROM catalog.plays WHERE user_id = @user_id;

-- name: PlayEnd :one
-- PlayEnd ends a play of the user that goes on.
UPDATE catalog.plays SET ended_at = @now
WHERE id = @id AND user_id = @user_id AND ended_at IS NULL AND seen_at > @silent_since
RETURNING id;

-- name: PlayList :many
-- PlayList returns the user's places, the longest played first, and which of them play now.
SELECT p.id, p.video_id, coalesce(v.title, '')::text AS title, p.session_id, p.device, p.started_at, p.seen_at,
       (p.ended_at IS NULL AND p.seen_at > @silent_since)::boolean AS is_live
FROM catalog.plays p LEFT JOIN catalog.videos v ON v.id = p.video_id
WHERE p.user_id = @user_id
ORDER BY p.started_at, p.id;

-- name: PlayOpen :one
-- PlayOpen takes the lowest place that is free, if fewer play than may. Of two at once that see the same place free, one
-- waits for the other, finds it taken and gets no row, as one does who finds all of them taken.
WITH held AS (
    SELECT p.place, p.ended_at IS NULL AND p.seen_at > @silent_since AS is_live FROM catalog.plays p WHERE p.user_id = @user_id
), free AS (
    SELECT min(n) AS place FROM generate_series(1, (SELECT count(*) + 1 FROM held)::int) n
    WHERE NOT EXISTS (SELECT 1 FROM held h WHERE h.place = n AND h.is_live)
)
INSERT INTO catalog.plays AS p (id, user_id, place, video_id, session_id, device, started_at, seen_at)
SELECT @id, @user_id, free.place, @video_id, sqlc.narg('session_id'), @device, @now, @now
FROM free
WHERE sqlc.narg('max_streams')::int IS NULL
   OR (SELECT count(*) FROM held WHERE is_live) < sqlc.narg('max_streams')::int
ON CONFLICT (user_id, place) DO UPDATE SET
    id = excluded.id, video_id = excluded.video_id, session_id = excluded.session_id, device = excluded.device,
    started_at = excluded.started_at, seen_at = excluded.seen_at, ended_at = NULL,
    ended_play_id = CASE WHEN p.ended_at IS NOT NULL THEN p.id END
    WHERE p.ended_at IS NOT NULL OR p.seen_at <= @silent_since
RETURNING p.id;

-- name: PlayTouch :one
-- PlayTouch goes on with a play of the user, with this video from now on.
UPDATE catalog.plays SET seen_at = greatest(seen_at, @now), video_id = @video_id
WHERE id = @id AND user_id = @user_id AND ended_at IS NULL AND seen_at > @silent_since
RETURNING id;
