-- name: ViewerRead :one
-- ViewerRead reads who lists videos, whether they may watch, and the version of the catalogue, by which a page in
-- memory is known to be the present one.
SELECT coalesce(c.user_type::text, '')::text AS user_type, a.has_access::boolean AS has_access,
       (SELECT v.number FROM catalog.version() v)::bigint AS number
FROM subscriptions.has_access(@user_id, @now) AS a (has_access)
LEFT JOIN accounts.caller(@user_id, @issued_at, @token_id, @session_id) AS c (username, user_type, is_root, profiles, handlers) ON true;

-- name: ViewerReadFile :one
-- ViewerReadFile reads whether the customer may watch, and what decides on a file of a video. A thumbnail may be
-- shared: another video than the one it was uploaded for may show it. It is a picture, and no video's film: a film,
-- captions or an extra that a video takes for its thumbnail stay what they are. The videos that show it are counted:
-- for EXISTS the planner expects to find one soon, and reads the table instead of the index.
SELECT a.has_access::boolean AS has_access,
       ((SELECT count(*) > 0 FROM catalog.videos t WHERE ARRAY[
                t.thumbnail_horizontal::text, t.thumbnail_horizontal_name_less::text,
                t.thumbnail_vertical::text, t.thumbnail_vertical_name_less::text
            ] @> ARRAY[@file_id::text])
        AND @content_type::text LIKE 'image/%'
        AND NOT EXISTS (SELECT 1 FROM catalog.videos f WHERE f.video_gridfs_id = @file_id::text))::boolean AS is_thumbnail,
       video.enable, video.expiration_date
FROM subscriptions.has_access(@user_id, @now) AS a (has_access)
LEFT JOIN catalog.videos video ON video.id = @video_id;

-- name: ViewerReadMany :many
-- ViewerReadMany is ViewerRead for several requests at once: a row for each, with its place among them. The lists come
-- through subqueries, so that the plan does not depend on their lengths: it reads each caller by the indexes, and is
-- made once.
SELECT q.place::int AS place, coalesce(c.user_type::text, '')::text AS user_type, a.has_access::boolean AS has_access,
       (SELECT v.number FROM catalog.version() v)::bigint AS number
FROM (
    SELECT unnest((SELECT @user_ids::text[]))::platform.object_id AS user_id,
           unnest((SELECT @issued_at::timestamptz[])) AS issued_at, unnest((SELECT @token_ids::text[])) AS token_id,
           unnest((SELECT @session_ids::text[])) AS session_id, unnest((SELECT @places::int[])) AS place
) q
CROSS JOIN LATERAL subscriptions.has_access(q.user_id, @now) AS a (has_access)
LEFT JOIN LATERAL accounts.caller(q.user_id, q.issued_at, q.token_id, q.session_id) AS c (username, user_type, is_root, profiles, handlers)
    ON true;

-- name: ViewerReadStream :one
-- ViewerReadStream reads who asks for a video's stream URL, whether they may watch, on how many devices at once (0 is no
-- limit) and up to which age rating without a PIN, and the video.
SELECT coalesce(c.user_type::text, '')::text AS user_type, a.has_access::boolean AS has_access, coalesce(m.max_streams, 0)::int AS max_streams,
       coalesce(l.max_age_rating, '')::text AS max_age_rating, video.video_id, video.enable, video.expiration_date, video.age_rating
FROM subscriptions.has_access(@user_id, @now) AS a (has_access)
LEFT JOIN accounts.max_age_rating(@user_id) AS l (max_age_rating) ON true
LEFT JOIN subscriptions.max_streams(@user_id, @now) AS m (max_streams) ON true
LEFT JOIN accounts.caller(@user_id, @issued_at, @token_id, @session_id) AS c (username, user_type, is_root, profiles, handlers) ON true
LEFT JOIN catalog.videos video ON video.id = @video_id;
