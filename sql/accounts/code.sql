-- CodeAttempt counts one attempt on the live code and returns what to compare
-- with; no row when there is none, it is over, or its attempts are used up. The
-- row lock makes parallel attempts count one after the other.
-- name: CodeAttempt :one
UPDATE accounts.codes SET attempts = attempts + 1
WHERE user_id = @user_id AND purpose = @purpose AND attempts < @max_attempts::int AND expires_at > @now
RETURNING *;

-- name: CodeDelete :exec
DELETE FROM accounts.codes WHERE id = @id;

-- name: CodeDeleteExpired :execrows
DELETE FROM accounts.codes WHERE expires_at <= @before;

-- name: CodeGetOfUser :one
SELECT * FROM accounts.codes WHERE user_id = @user_id AND purpose = @purpose;

-- name: CodeGetForMail :one
SELECT c.id, c.purpose, c.address, c.code_mac, c.expires_at, u.language, COALESCE(u.full_name, u.name, u.username)::text AS recipient
FROM accounts.codes c JOIN accounts.users u ON u.id = c.user_id
WHERE c.id = @id;

-- name: CodeReplace :exec
INSERT INTO accounts.codes (id, user_id, purpose, address, code_mac, created_at, expires_at)
VALUES (@id, @user_id, @purpose, @address, @code_mac, @created_at, @expires_at)
ON CONFLICT ON CONSTRAINT codes_one_per_purpose DO UPDATE SET
    id = excluded.id, address = excluded.address, code_mac = excluded.code_mac, attempts = 0,
    created_at = excluded.created_at, expires_at = excluded.expires_at;
