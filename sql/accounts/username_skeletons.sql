-- SkeletonListMissing lists users of whose names it is not noted what they look like,
-- admins first, then the oldest.
-- name: SkeletonListMissing :many
SELECT u.id, u.username FROM accounts.users u
WHERE u.deleted_at IS NULL AND position('@' IN u.username) = 0
  AND NOT EXISTS (SELECT 1 FROM accounts.username_skeletons s WHERE s.user_id = u.id AND s.username = u.username)
ORDER BY u.user_type, u.id LIMIT @page_size;

-- SkeletonInsert notes what a name looks like that its user has already, and whether
-- somebody else's looks so, too.
-- name: SkeletonInsert :exec
INSERT INTO accounts.username_skeletons (user_id, skeleton, username, shared)
SELECT @user_id::platform.object_id, k.skeleton, @username::text, EXISTS (SELECT 1 FROM accounts.username_skeletons o WHERE o.skeleton = k.skeleton AND o.user_id <> @user_id::platform.object_id)
FROM unnest(@skeletons::text[]) AS k (skeleton)
ON CONFLICT ON CONSTRAINT username_skeletons_once_per_user DO UPDATE SET username = excluded.username;

-- SkeletonTake notes what a name looks like that its user is to have; it fails where
-- somebody else has just taken one that looks so.
-- name: SkeletonTake :exec
INSERT INTO accounts.username_skeletons (user_id, skeleton, username, shared)
SELECT @user_id, k.skeleton, @username, false FROM unnest(@skeletons::text[]) AS k (skeleton)
ON CONFLICT ON CONSTRAINT username_skeletons_once_per_user DO UPDATE SET username = excluded.username;

-- name: SkeletonIsTaken :one
SELECT EXISTS (SELECT 1 FROM accounts.username_skeletons WHERE skeleton = ANY (@skeletons::text[]) AND user_id <> @user_id);
