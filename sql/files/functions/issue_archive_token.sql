CREATE OR REPLACE FUNCTION files.issue_archive_token(token_hash text, user_id platform.object_id, session_id platform.object_id,
    issued_at timestamptz, expires_at timestamptz) RETURNS void
LANGUAGE sql VOLATILE AS $$
    INSERT INTO files.archive_tokens (token_hash, user_id, session_id, issued_at, expires_at) VALUES ($1, $2, $3, $4, $5)
$$;
COMMENT ON FUNCTION files.issue_archive_token(text, platform.object_id, platform.object_id, timestamptz, timestamptz) IS
    'Published: writes an archive token, whose hash alone is given.';
