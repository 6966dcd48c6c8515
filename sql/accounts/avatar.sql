-- UserListAvatars returns those of the users who are still there.
-- name: UserListAvatars :many
SELECT id, avatar_id FROM accounts.users WHERE id = ANY (@ids::text[]) AND deleted_at IS NULL;

-- name: UserSetAvatar :exec
UPDATE accounts.users SET avatar_id = sqlc.narg('avatar_id'), updated_at = @now WHERE id = @id;
