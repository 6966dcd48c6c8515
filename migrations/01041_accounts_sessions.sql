-- +goose Up
CREATE TABLE accounts.sessions (
    id            platform.object_id PRIMARY KEY,
    user_id       platform.object_id NOT NULL,
    method        text COLLATE "C" NOT NULL,
    second_factor boolean NOT NULL,
    device        text COLLATE "C" NOT NULL,
    address       text COLLATE "C" NOT NULL,
    started_at    timestamptz NOT NULL,
    refreshed_at  timestamptz NOT NULL,
    expires_at    timestamptz NOT NULL,
    ended_at      timestamptz,
    CONSTRAINT sessions_user_exists FOREIGN KEY (user_id) REFERENCES accounts.users (id) ON DELETE CASCADE,
    CONSTRAINT sessions_method_known CHECK (method IN ('login', 'totp', 'recovery_code', 'passkey', 'signup', 'earlier')),
    CONSTRAINT sessions_device_length CHECK (length(device) <= 300),
    CONSTRAINT sessions_expire_after_refresh CHECK (expires_at > refreshed_at)
);
COMMENT ON TABLE accounts.sessions IS 'A row a sign-in, for people to see and to end. Tokens name theirs in the claim sid; a row that is not there, or not ended, refuses none. Rows go with their time and with the account.';
COMMENT ON COLUMN accounts.sessions.method IS 'By what somebody signed in; login: name and password; earlier: by a token of before sessions, which was refreshed.';
COMMENT ON COLUMN accounts.sessions.second_factor IS 'Signed in with more than a password, or a second factor was confirmed in it.';
COMMENT ON COLUMN accounts.sessions.device IS 'User-Agent of the last sign-in or refresh, cut to 300 characters.';
COMMENT ON COLUMN accounts.sessions.address IS 'Client address of the same.';
COMMENT ON COLUMN accounts.sessions.refreshed_at IS 'When its last tokens were issued. Before users.tokens_valid_after: they are over, and the session with them.';
COMMENT ON COLUMN accounts.sessions.expires_at IS 'When the last of its tokens ends, of one that was ended an hour later: for what was being issued.';
COMMENT ON COLUMN accounts.sessions.ended_at IS 'When somebody ended it: its tokens are refused.';
CREATE INDEX sessions_by_user ON accounts.sessions (user_id, refreshed_at DESC);
CREATE INDEX sessions_by_expiry ON accounts.sessions (expires_at);
CREATE INDEX sessions_ended ON accounts.sessions (id) WHERE ended_at IS NOT NULL;
COMMENT ON INDEX accounts.sessions_ended IS 'What each request is looked for in: as small as the sessions are few that were ended.';

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
COMMENT ON FUNCTION accounts.caller(platform.object_id, timestamptz, text, text) IS
    'Published: the user behind a token, live, with the handler names that their profiles hold. No row when they are deleted or disabled, when tokens of that age were ended, or when its session was. token_id is empty for archive tokens, session_id for tokens without a session.';

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION accounts.caller(user_id platform.object_id, issued_at timestamptz, token_id text)
    RETURNS TABLE (username text, user_type text, is_root boolean, profiles text[], handlers text[])
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT username, user_type, is_root, profiles, handlers FROM accounts.caller($1, $2, $3, '')
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION accounts.caller(platform.object_id, timestamptz, text) IS
    'Published: caller of a token without a session, as programs of before sessions ask for it.';

-- +goose Down
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION accounts.caller(user_id platform.object_id, issued_at timestamptz, token_id text)
    RETURNS TABLE (username text, user_type text, is_root boolean, profiles text[], handlers text[])
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT u.username, u.user_type, u.is_root, u.type_user,
           CASE WHEN u.type_user = '{}' THEN '{}' ELSE accounts.rights_of(u.type_user) END
    FROM accounts.users u
    WHERE u.id = $1 AND u.enable AND u.deleted_at IS NULL
      AND (u.tokens_valid_after IS NULL OR $2 >= u.tokens_valid_after
           OR (u.kept_token_id = $3 AND u.kept_token_since = u.tokens_valid_after))
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION accounts.caller(platform.object_id, timestamptz, text) IS
    'Published: the user behind a token, live, with the handler names that their profiles hold. No row when they are deleted or disabled, or when tokens of that age were ended. token_id is empty for archive tokens.';
DROP FUNCTION accounts.caller(platform.object_id, timestamptz, text, text);
DROP TABLE accounts.sessions;
