-- name: RecoveryCodeCount :one
SELECT count(*)::int FROM accounts.recovery_codes WHERE user_id = @user_id;

-- name: RecoveryCodeDeleteOfUser :exec
DELETE FROM accounts.recovery_codes WHERE user_id = @user_id;

-- name: RecoveryCodeInsert :exec
INSERT INTO accounts.recovery_codes (user_id, code_mac) SELECT @user_id, unnest(@code_macs::bytea[]);

-- RecoveryCodeUse takes a code for good; no row when there is no such one, or somebody else has just used it.
-- name: RecoveryCodeUse :execrows
DELETE FROM accounts.recovery_codes r USING accounts.totp t
WHERE r.user_id = @user_id AND r.code_mac = @code_mac AND t.user_id = r.user_id AND t.confirmed_at IS NOT NULL;

-- TotpBegin keeps a secret that is to be confirmed, in place of an earlier one that never was; no row where one is
-- confirmed.
-- name: TotpBegin :execrows
INSERT INTO accounts.totp AS t (user_id, secret, created_at) VALUES (@user_id, @secret, @now)
ON CONFLICT (user_id) DO UPDATE SET secret = excluded.secret, created_at = excluded.created_at, last_step = 0
WHERE t.confirmed_at IS NULL;

-- TotpConfirm takes the secret for which a first code was right; no row when another one has taken its place meanwhile,
-- or it is confirmed already.
-- name: TotpConfirm :execrows
UPDATE accounts.totp SET confirmed_at = @now, last_step = @step
WHERE user_id = @user_id AND confirmed_at IS NULL AND secret = @secret;

-- TotpDelete ends a second factor, or what was being set up, with its recovery codes.
-- name: TotpDelete :execrows
DELETE FROM accounts.totp WHERE user_id = @user_id;

-- name: TotpDeleteSince :execrows
DELETE FROM accounts.totp WHERE user_id = @user_id AND coalesce(confirmed_at, created_at) >= @since::timestamptz;

-- TotpDeleteUnconfirmed removes what nobody has confirmed in time.
-- name: TotpDeleteUnconfirmed :execrows
DELETE FROM accounts.totp WHERE confirmed_at IS NULL AND created_at < @before;

-- name: TotpGet :one
SELECT * FROM accounts.totp WHERE user_id = @user_id;

-- TotpUse takes a step for good; no row when it, or a later one, was used already.
-- name: TotpUse :execrows
UPDATE accounts.totp SET last_step = @step
WHERE user_id = @user_id AND confirmed_at IS NOT NULL AND last_step < @step;
