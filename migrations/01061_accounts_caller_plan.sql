-- +goose Up
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION accounts.caller(user_id platform.object_id, issued_at timestamptz, token_id text, session_id text)
    RETURNS TABLE (username text, user_type text, is_root boolean, profiles text[], handlers text[])
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT u.username, u.user_type, u.is_root, u.type_user,
           CASE WHEN u.type_user = '{}' THEN '{}' ELSE accounts.rights_of(u.type_user) END
    FROM accounts.users u
    WHERE u.id = $1 AND u.enable AND u.deleted_at IS NULL
      AND (u.tokens_valid_after IS NULL OR $2 >= u.tokens_valid_after
           OR (u.kept_token_id = $3 AND u.kept_token_since = u.tokens_valid_after))
      AND NOT EXISTS (SELECT 1 FROM accounts.sessions s WHERE s.id = $4 AND s.ended_at IS NOT NULL
                      OFFSET 0) -- which holds the planner to the index, however many callers it expects
$$;
-- +goose StatementEnd

-- +goose Down
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION accounts.caller(user_id platform.object_id, issued_at timestamptz, token_id text, session_id text)
    RETURNS TABLE (username text, user_type text, is_root boolean, profiles text[], handlers text[])
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT u.username, u.user_type, u.is_root, u.type_user,
           CASE WHEN u.type_user = '{}' THEN '{}' ELSE accounts.rights_of(u.type_user) END
    FROM accounts.users u
    WHERE u.id = $1 AND u.enable AND u.deleted_at IS NULL
      AND (u.tokens_valid_after IS NULL OR $2 >= u.tokens_valid_after
           OR (u.kept_token_id = $3 AND u.kept_token_since = u.tokens_valid_after))
      AND NOT EXISTS (SELECT 1 FROM accounts.sessions s WHERE s.id = $4 AND s.ended_at IS NOT NULL)
$$;
-- +goose StatementEnd
