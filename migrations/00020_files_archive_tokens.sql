-- +goose Up
CREATE SCHEMA files;
COMMENT ON SCHEMA files IS 'Stored files and the tokens that open them.';

CREATE TABLE files.archive_tokens (
    token_hash text COLLATE "C" PRIMARY KEY,
    user_id    platform.object_id NOT NULL,
    issued_at  timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    CONSTRAINT archive_tokens_hash_form CHECK (token_hash ~ '^[0-9a-f]{64}$'),
    CONSTRAINT archive_tokens_expire_after_issue CHECK (expires_at > issued_at)
);
COMMENT ON TABLE files.archive_tokens IS 'Session tokens that open stored files without an Authorization header. Several of one user live side by side until they expire.';
COMMENT ON COLUMN files.archive_tokens.token_hash IS 'Hex SHA-256 of the token, which is 32 random bytes and stands nowhere.';
COMMENT ON COLUMN files.archive_tokens.user_id IS 'No foreign key: users belong to an upper module.';
CREATE INDEX archive_tokens_by_expiry ON files.archive_tokens (expires_at);

-- +goose Down
DROP TABLE files.archive_tokens;
DROP SCHEMA files;
