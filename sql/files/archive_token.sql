-- name: ArchiveTokenDeleteExpired :execrows
DELETE FROM files.archive_tokens WHERE expires_at <= @now;

-- name: ArchiveTokenGet :one
SELECT user_id, session_id, issued_at FROM files.archive_tokens
WHERE token_hash = @token_hash AND expires_at > @now;

-- name: ArchiveTokenInsert :exec
INSERT INTO files.archive_tokens (token_hash, user_id, session_id, issued_at, expires_at)
VALUES (@token_hash, @user_id, sqlc.narg('session_id'), @issued_at, @expires_at);
