-- name: ViewList :many
-- Those that the caller sees, of a list or, with an empty path, of all.
SELECT v.*, u.username AS owner FROM accounts.views v JOIN accounts.users u ON u.id = v.owner_id
WHERE (v.path = @path OR @path = '')
  AND (v.owner_id = @caller_id OR @is_root::boolean OR v.audience = 'all' OR v.profile_id = ANY (@profiles::text[]))
ORDER BY v.path, v.name, v.id LIMIT @most;

-- name: ViewCount :one
SELECT count(*)::int FROM accounts.views WHERE owner_id = @owner_id;

-- name: ViewInsert :exec
INSERT INTO accounts.views (id, owner_id, name, path, query, sort, columns, audience, profile_id, register_date,
    register_update_date)
VALUES (@id, @owner_id, @name, @path, @query, @sort, @columns, @audience, sqlc.narg('profile_id'), @now, @now);

-- name: ViewGet :one
SELECT v.*, u.username AS owner FROM accounts.views v JOIN accounts.users u ON u.id = v.owner_id WHERE v.id = @id;

-- name: ViewUpdate :execrows
-- By its owner, or by root; where it was read before, only as it stood then.
UPDATE accounts.views SET name = @name, query = @query, sort = @sort, columns = @columns, audience = @audience,
    profile_id = sqlc.narg('profile_id'), register_update_date = @now
WHERE id = @id AND (owner_id = @caller_id OR @is_root::boolean)
  AND (sqlc.narg('read_at')::timestamptz IS NULL OR register_update_date = sqlc.narg('read_at'));

-- name: ViewDelete :execrows
DELETE FROM accounts.views WHERE id = @id AND (owner_id = @caller_id OR @is_root::boolean);
