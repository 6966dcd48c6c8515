-- name: CallerRead :one
-- CallerRead reads the user behind a token, live: no row when they are deleted or disabled, or when tokens of that age
-- were ended.
SELECT c.username::text AS username, c.user_type::text AS user_type, c.is_root::boolean AS is_root,
       c.profiles::text[] AS profiles, c.handlers::text[] AS handlers
FROM accounts.caller(@user_id, @issued_at, @token_id) AS c (username, user_type, is_root, profiles, handlers);
