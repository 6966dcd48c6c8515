-- +goose Up
-- An archive token ends with the session that it was made in.
ALTER TABLE files.archive_tokens ADD COLUMN session_id platform.object_id;
COMMENT ON COLUMN files.archive_tokens.session_id IS 'The session in which it was made, which ends it too. No foreign key: sessions belong to an upper module. Null: made without one.';

-- A sign-in writes its session and this token by one statement.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION files.issue_archive_token(token_hash text, user_id platform.object_id, session_id platform.object_id,
    issued_at timestamptz, expires_at timestamptz) RETURNS void
LANGUAGE sql VOLATILE AS $$
    INSERT INTO files.archive_tokens (token_hash, user_id, session_id, issued_at, expires_at) VALUES ($1, $2, $3, $4, $5)
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION files.issue_archive_token(text, platform.object_id, platform.object_id, timestamptz, timestamptz) IS
    'Published: writes an archive token, whose hash alone is given.';

-- +goose Down
DROP FUNCTION files.issue_archive_token(text, platform.object_id, platform.object_id, timestamptz, timestamptz);
ALTER TABLE files.archive_tokens DROP COLUMN session_id;
