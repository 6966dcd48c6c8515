-- name: PasskeyChallengeDeleteOld :execrows
DELETE FROM accounts.passkey_challenges WHERE expires_at <= @now;

-- name: PasskeyChallengeDeleteOfUser :exec
DELETE FROM accounts.passkey_challenges WHERE user_id = @user_id::text;

-- name: PasskeyChallengeInsert :exec
INSERT INTO accounts.passkey_challenges (challenge_hash, user_id, expires_at)
VALUES (@challenge_hash, sqlc.narg('user_id'), @expires_at);

-- PasskeyChallengeUse takes a challenge for good; no row when it is over, was given to somebody else or for something
-- else, or was used already.
-- name: PasskeyChallengeUse :execrows
DELETE FROM accounts.passkey_challenges
WHERE challenge_hash = @challenge_hash AND user_id IS NOT DISTINCT FROM sqlc.narg('user_id')::text AND expires_at > @now;

-- name: PasskeyCount :one
SELECT count(*)::int FROM accounts.passkeys WHERE user_id = @user_id;

-- name: PasskeyDelete :one
DELETE FROM accounts.passkeys WHERE id = @id AND user_id = @user_id RETURNING name;

-- name: PasskeyDeleteOfUser :execrows
DELETE FROM accounts.passkeys WHERE user_id = @user_id;

-- PasskeyGetForLogin finds the passkey of a credential, of the user whom its authenticator names, and that user.
-- name: PasskeyGetForLogin :one
SELECT sqlc.embed(p), sqlc.embed(u)
FROM accounts.passkeys p JOIN accounts.users u ON u.id = p.user_id
WHERE p.credential_id = @credential_id AND p.user_id = @user_id AND u.deleted_at IS NULL;

-- PasskeyInsert writes a passkey; no row when its credential is registered already, by whomever.
-- name: PasskeyInsert :execrows
INSERT INTO accounts.passkeys (id, user_id, credential_id, public_key, sign_count, backup_eligible, backed_up, transports, name,
    created_at)
VALUES (@id, @user_id, @credential_id, @public_key, @sign_count, @backup_eligible, @backed_up, @transports, @name, @now)
ON CONFLICT (credential_id) DO NOTHING;

-- name: PasskeyList :many
SELECT * FROM accounts.passkeys WHERE user_id = @user_id ORDER BY created_at, id;

-- PasskeyUse notes a use by the counter that it was checked against; no row when it has been used meanwhile, or the
-- counter does not rise.
-- name: PasskeyUse :execrows
UPDATE accounts.passkeys SET sign_count = @sign_count, backed_up = @backed_up, used_at = @now
WHERE id = @id AND sign_count = @old_sign_count AND (sign_count < @sign_count OR sign_count = 0 AND @sign_count = 0);
