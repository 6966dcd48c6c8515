-- SessionBegin writes a session and the archive token of its sign-in; of a session that goes on, when its last tokens
-- were issued.
-- name: SessionBegin :exec
WITH session AS (
    INSERT INTO accounts.sessions AS s (id, user_id, method, second_factor, device, address, started_at, refreshed_at, expires_at)
    VALUES (@id, @user_id, @method, @second_factor, @device, @address, @issued_at, @issued_at, @expires_at)
    ON CONFLICT (id) DO UPDATE SET
        device = excluded.device, address = excluded.address, refreshed_at = greatest(s.refreshed_at, excluded.refreshed_at),
        expires_at = greatest(s.expires_at, excluded.expires_at)
    WHERE s.user_id = excluded.user_id AND s.ended_at IS NULL
)
SELECT files.issue_archive_token(@token_hash::text, @user_id, @id, @issued_at, @archive_expires_at);

-- name: SessionDeleteOfUser :exec
DELETE FROM accounts.sessions WHERE user_id = @user_id;

-- name: SessionDeleteOver :execrows
DELETE FROM accounts.sessions WHERE expires_at <= @now;

-- SessionEnd refuses a session's tokens from now on. refused_until is after the last that may be under way to be issued;
-- signed_out where it ends itself.
-- name: SessionEnd :execrows
UPDATE accounts.sessions s SET ended_at = @now, signed_out = @signed_out, expires_at = greatest(s.expires_at, @refused_until)
WHERE s.id = @id AND s.user_id = @user_id AND s.ended_at IS NULL AND s.expires_at > @now::timestamptz
  AND s.refreshed_at >= coalesce((SELECT u.tokens_valid_after FROM accounts.users u WHERE u.id = @user_id), '-infinity');

-- SessionEndOthers is SessionEnd for all of a user's but one.
-- name: SessionEndOthers :execrows
UPDATE accounts.sessions s SET ended_at = @now, expires_at = greatest(s.expires_at, @refused_until)
WHERE s.user_id = @user_id AND s.id <> @except_id::text AND s.ended_at IS NULL AND s.expires_at > @now::timestamptz
  AND s.refreshed_at >= coalesce((SELECT u.tokens_valid_after FROM accounts.users u WHERE u.id = @user_id), '-infinity');

-- SessionInsert writes a session that begins without an archive token.
-- name: SessionInsert :exec
INSERT INTO accounts.sessions (id, user_id, method, second_factor, device, address, started_at, refreshed_at, expires_at)
VALUES (@id, @user_id, @method, @second_factor, @device, @address, @issued_at, @issued_at, @expires_at);

-- SessionListOfUser lists the sessions that go on, the last used first.
-- name: SessionListOfUser :many
SELECT s.* FROM accounts.sessions s JOIN accounts.users u ON u.id = s.user_id
WHERE s.user_id = @user_id AND s.ended_at IS NULL AND s.expires_at > @now
  AND (u.tokens_valid_after IS NULL OR s.refreshed_at >= u.tokens_valid_after)
ORDER BY s.refreshed_at DESC, s.id DESC LIMIT @page_size;

-- SessionListPersonal lists all that is known of a user's sign-ins, those that are over, too.
-- name: SessionListPersonal :many
SELECT * FROM accounts.sessions WHERE user_id = @user_id ORDER BY started_at DESC, id DESC;

-- SessionMarkSecondFactor: in this session a second factor was confirmed.
-- name: SessionMarkSecondFactor :exec
UPDATE accounts.sessions SET second_factor = true WHERE id = @id::text AND user_id = @user_id;

-- SessionTouch reads the user behind a refresh token as CallerRead does, and notes the tokens that are issued for it:
-- no row when the user is not to have any, or the session is ended, also at this very moment. What has no row yet,
-- since its token is of before sessions, gets one.
-- name: SessionTouch :one
WITH c AS MATERIALIZED (
    SELECT * FROM accounts.caller(@user_id, @token_issued_at, @token_id, @id) AS c (username, user_type, is_root, profiles, handlers)
), session AS (
    INSERT INTO accounts.sessions AS s (id, user_id, method, second_factor, device, address, started_at, refreshed_at, expires_at)
    SELECT @id, @user_id, 'earlier', false, @device, @address, @issued_at, @issued_at, @expires_at FROM c
    ON CONFLICT (id) DO UPDATE SET
        device = excluded.device, address = excluded.address, refreshed_at = greatest(s.refreshed_at, excluded.refreshed_at),
        expires_at = greatest(s.expires_at, excluded.expires_at)
    WHERE s.user_id = excluded.user_id AND s.ended_at IS NULL
    RETURNING s.id
)
SELECT c.username::text AS username, c.user_type::text AS user_type, c.is_root::boolean AS is_root,
       c.profiles::text[] AS profiles
FROM c CROSS JOIN session;
