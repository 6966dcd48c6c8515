-- name: CallerRead :one
-- CallerRead reads the user behind a token, live: no row when they are deleted or disabled, when tokens of that age were
-- ended, or when the token's session was. For a root user it tells whether a second factor is missing, where one is
-- required.
SELECT c.username::text AS username, c.user_type::text AS user_type, c.is_root::boolean AS is_root,
       c.profiles::text[] AS profiles, c.handlers::text[] AS handlers,
       (@mfa_for_root::boolean AND c.is_root AND NOT EXISTS (
           SELECT 1 FROM accounts.sessions s WHERE s.id = @session_id::text AND s.user_id = @user_id AND s.second_factor
       ))::boolean AS mfa_missing
FROM accounts.caller(@user_id, @issued_at, @token_id, @session_id::text) AS c (username, user_type, is_root, profiles, handlers);

-- name: CallerReadAndLastWrite :one
-- CallerReadAndLastWrite is CallerRead with a place in the write-ahead log that is behind all that the user has written,
-- where that was within so many seconds; else 0.
SELECT c.username::text AS username, c.user_type::text AS user_type, c.is_root::boolean AS is_root,
       c.profiles::text[] AS profiles, c.handlers::text[] AS handlers,
       (@mfa_for_root::boolean AND c.is_root AND NOT EXISTS (
           SELECT 1 FROM accounts.sessions s WHERE s.id = @session_id::text AND s.user_id = @user_id AND s.second_factor
       ))::boolean AS mfa_missing,
       coalesce((SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') FROM accounts.last_writes w
                 WHERE w.user_id = @user_id AND w.at > clock_timestamp() - make_interval(secs => @seconds::float8)), 0)::bigint AS written
FROM accounts.caller(@user_id, @issued_at, @token_id, @session_id::text) AS c (username, user_type, is_root, profiles, handlers);

-- name: CallerReadAndRecordWrite :one
-- CallerReadAndRecordWrite is CallerRead for a request that writes, which is noted, once a second at most.
WITH c AS MATERIALIZED (
    SELECT * FROM accounts.caller(@user_id, @issued_at, @token_id, @session_id::text) AS c (username, user_type, is_root, profiles, handlers)
), noted AS (
    INSERT INTO accounts.last_writes AS w (user_id, at) SELECT @user_id, clock_timestamp() FROM c
    ON CONFLICT (user_id) DO UPDATE SET at = excluded.at WHERE w.at < excluded.at - interval '1 second'
)
SELECT c.username::text AS username, c.user_type::text AS user_type, c.is_root::boolean AS is_root,
       c.profiles::text[] AS profiles, c.handlers::text[] AS handlers,
       (@mfa_for_root::boolean AND c.is_root AND NOT EXISTS (
           SELECT 1 FROM accounts.sessions s WHERE s.id = @session_id::text AND s.user_id = @user_id AND s.second_factor
       ))::boolean AS mfa_missing
FROM c;

-- name: LastWriteRecord :exec
-- LastWriteRecord notes that a request of the user still writes.
INSERT INTO accounts.last_writes (user_id, at) VALUES (@user_id, clock_timestamp())
ON CONFLICT (user_id) DO UPDATE SET at = excluded.at;

-- name: LastWriteDeleteOld :execrows
DELETE FROM accounts.last_writes WHERE at < clock_timestamp() - interval '1 hour';

-- SessionGetSignedOut tells whether a session has ended itself.
-- name: SessionGetSignedOut :one
SELECT EXISTS (SELECT 1 FROM accounts.sessions s WHERE s.id = @id AND s.ended_at IS NOT NULL AND s.signed_out);
