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
