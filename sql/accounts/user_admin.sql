-- UserCountOtherRoots counts the root users that may log in, without those given.
-- name: UserCountOtherRoots :one
SELECT count(*) FROM accounts.users
WHERE user_type = 'admin' AND is_root AND enable AND deleted_at IS NULL AND id <> ALL (@ids::text[]);

-- UserDeleteCodes ends the codes that were mailed to an address which is no
-- longer the user's.
-- name: UserDeleteCodes :exec
DELETE FROM accounts.codes WHERE user_id = ANY (@ids::text[]);

-- UserEndTokens ends all tokens of before.
-- name: UserEndTokens :exec
UPDATE accounts.users SET tokens_valid_after = @ended_at, kept_token_id = NULL, kept_token_since = NULL, updated_at = @now
WHERE id = @id;

-- UserErase leaves a tombstone: nothing personal, no right, no login, no token
-- that holds. Logins become free by the trigger of the table.
-- name: UserErase :execrows
UPDATE accounts.users SET
    deleted_at = @now, enable = false, tokens_valid_after = @tokens_valid_after, kept_token_id = NULL, kept_token_since = NULL,
    password_hash = NULL, password_reset_required = false,
    username = '', email = '', is_root = false, type_user = '{}', name = NULL, full_name = NULL, tax_id = NULL, phone = NULL,
    nationality = '', address = NULL, my_list = '{}', avatar_id = NULL, email_verified = false, email_verified_at = NULL, updated_at = @now
WHERE id = @id AND deleted_at IS NULL;

-- name: UserHoldRoots :exec
SELECT accounts.hold_roots();

-- UserListBeyond returns those of the users who have a right that is not among
-- the given ones.
-- name: UserListBeyond :many
SELECT id FROM accounts.users
WHERE id = ANY (@ids::text[]) AND type_user <> '{}' AND NOT accounts.rights_of(type_user) <@ @rights::text[];

-- UserListForChange locks them in the order of their ids.
-- name: UserListForChange :many
SELECT * FROM accounts.users WHERE id = ANY (@ids::text[]) AND user_type = @user_type AND deleted_at IS NULL ORDER BY id FOR NO KEY UPDATE;

-- UserListTakenLogins returns the places, from 1, of those logins that somebody
-- other than their owner has.
-- name: UserListTakenLogins :many
SELECT w.place::int AS place FROM (
    SELECT generate_subscripts(@logins::text[], 1) AS place, unnest(@logins::text[]) AS login, unnest(@owners::text[]) AS owner
) w JOIN accounts.logins l ON l.login = accounts.fold(w.login)
WHERE l.user_id <> w.owner ORDER BY 1;

-- UserSetEmailVerified verifies a customer's address on an admin's word.
-- name: UserSetEmailVerified :one
UPDATE accounts.users SET email_verified = true, email_verified_at = @now, updated_at = @now
WHERE id = @id AND user_type = 'customer' AND deleted_at IS NULL
RETURNING *;

-- UserToggle flips enable; tokens end where it becomes false.
-- name: UserToggle :one
UPDATE accounts.users SET enable = NOT enable, updated_at = @now,
    tokens_valid_after = CASE WHEN enable THEN @ended_at ELSE tokens_valid_after END,
    kept_token_id = CASE WHEN NOT enable THEN kept_token_id END, kept_token_since = CASE WHEN NOT enable THEN kept_token_since END
WHERE id = @id AND user_type = 'customer' AND deleted_at IS NULL
RETURNING *;
