-- EmailChangeRequest notes what is asked for, in place of what the user asked before. A link that another address was mailed dies with it.
-- name: EmailChangeRequest :one
INSERT INTO accounts.email_changes (id, user_id, old_email, old_username, old_unproved, new_email, requested_at, expires_at)
VALUES (@id, @user_id, @old_email, @old_username, @old_unproved, @new_email, @now, @expires_at)
ON CONFLICT (user_id) WHERE changed_at IS NULL AND undone_at IS NULL DO UPDATE SET
    id = CASE WHEN email_changes.old_email = excluded.old_email THEN email_changes.id ELSE excluded.id END,
    old_email = excluded.old_email, old_username = excluded.old_username, old_unproved = excluded.old_unproved,
    new_email = excluded.new_email, requested_at = excluded.requested_at, expires_at = excluded.expires_at
RETURNING id;

-- EmailChangeDelete is for who deletes the account.
-- name: EmailChangeDelete :exec
DELETE FROM accounts.email_changes WHERE user_id = @user_id;

-- name: EmailChangeDeleteOld :execrows
DELETE FROM accounts.email_changes WHERE expires_at <= @now;

-- EmailChangeEnd is for who changes an address for its user: no link that was mailed before undoes that.
-- name: EmailChangeEnd :exec
UPDATE accounts.email_changes SET expires_at = @now WHERE user_id = ANY(@user_ids::text[]) AND expires_at > @now;

-- EmailChangeGetUndoableUntil is when the last link ends that undoes a change which was made.
-- name: EmailChangeGetUndoableUntil :one
SELECT expires_at FROM accounts.email_changes
WHERE user_id = @user_id AND changed_at IS NOT NULL AND undone_at IS NULL AND expires_at > @now ORDER BY expires_at DESC LIMIT 1;

-- name: EmailChangeGet :one
SELECT * FROM accounts.email_changes WHERE id = @id;

-- name: EmailChangeMake :exec
UPDATE accounts.email_changes SET changed_at = @now, expires_at = @expires_at WHERE id = @id;

-- EmailChangeUndo ends the change and all later ones of its user.
-- name: EmailChangeUndo :exec
UPDATE accounts.email_changes c SET undone_at = @now
FROM accounts.email_changes used
WHERE used.id = @id AND c.user_id = used.user_id AND c.undone_at IS NULL
  AND (c.id = used.id OR c.changed_at IS NULL OR c.changed_at >= used.changed_at);

-- UserRestoreEmail gives the address back and shuts the account until its password is reset.
-- name: UserRestoreEmail :one
UPDATE accounts.users SET email = @email, username = @username,
    email_verified = NOT @unproved::boolean, email_verified_at = CASE WHEN NOT @unproved THEN @now::timestamptz END, unproved_signup = @unproved,
    password_hash = NULL, password_reset_required = true,
    tokens_valid_after = @tokens_valid_after, kept_token_id = NULL, kept_token_since = NULL, updated_at = @now
WHERE id = @id
RETURNING *;

-- EmailChangeList is what the user is told that is held of them.
-- name: EmailChangeList :many
SELECT old_email, new_email, requested_at, changed_at, undone_at, expires_at FROM accounts.email_changes WHERE user_id = @user_id ORDER BY requested_at;
