-- ProfileHoldForDelete locks profiles against being given to anybody meanwhile.
-- name: ProfileHoldForDelete :exec
SELECT id FROM accounts.users_type WHERE id = ANY (@ids::text[]) ORDER BY id FOR UPDATE;

-- ProfileHoldForUse returns those that exist and keeps them from being deleted.
-- name: ProfileHoldForUse :many
SELECT id FROM accounts.users_type WHERE id = ANY (@ids::text[]) ORDER BY id FOR KEY SHARE;

-- ProfileIsUsed reports whether an admin carries one of them.
-- name: ProfileIsUsed :one
SELECT EXISTS (SELECT 1 FROM accounts.users WHERE user_type = 'admin' AND deleted_at IS NULL AND type_user && @ids::text[]);

-- ProfileListHandlers returns every handler name that a profile holds.
-- name: ProfileListHandlers :many
SELECT DISTINCT unnest("view" || "create" || "update" || "delete")::text AS handler FROM accounts.users_type;
