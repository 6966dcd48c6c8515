-- name: CodeDeleteOfUser :exec
DELETE FROM accounts.codes WHERE user_id = @user_id;

-- UserChangeEmail makes the proved address e-mail and username.
-- name: UserChangeEmail :one
UPDATE accounts.users SET email = @email, username = @email, email_verified = true, email_verified_at = @now, updated_at = @now
WHERE id = @id
RETURNING *;

-- UserChangePassword keeps the token that asked for it. No row: the password has
-- been changed since it was checked.
-- name: UserChangePassword :execrows
UPDATE accounts.users SET password_hash = @new_hash::text, password_reset_required = false, tokens_valid_after = @tokens_valid_after,
    kept_token_id = NULLIF(@token_id::text, ''), kept_token_since = @tokens_valid_after, updated_at = @now
WHERE id = @id AND password_hash = @old_hash::text AND deleted_at IS NULL;

-- name: UserDeferVerification :exec
UPDATE accounts.users SET verify_later = true WHERE id = @id;

-- name: UserLockAny :one
SELECT * FROM accounts.users WHERE id = @id AND deleted_at IS NULL FOR NO KEY UPDATE;

-- UserEmptyProfile leaves nothing of what somebody wrote who never proved the address.
-- name: UserEmptyProfile :one
UPDATE accounts.users SET username = email, phone = NULL, address = NULL, tax_id = NULL, my_list = '{}', avatar_id = NULL, updated_at = @now
WHERE id = @id
RETURNING *;

-- UserMarkSignup marks an account that signup has just made.
-- name: UserMarkSignup :exec
UPDATE accounts.users SET unproved_signup = true WHERE id = @id;

-- UserRequireReset flags an imported user, whose password has to be replaced.
-- name: UserRequireReset :one
UPDATE accounts.users SET password_reset_required = true WHERE id = @id RETURNING *;

-- UserResetPassword ends all earlier tokens; whoever has the code has proved the address.
-- name: UserResetPassword :exec
UPDATE accounts.users SET password_hash = @new_hash::text, password_reset_required = false, tokens_valid_after = @tokens_valid_after,
    kept_token_id = NULL, kept_token_since = NULL,
    email_verified = true, email_verified_at = COALESCE(email_verified_at, @now::timestamptz), updated_at = @now
WHERE id = @id;
