-- name: ChunkGet :one
SELECT data FROM files.chunks WHERE content_id = @content_id AND n = @n;

-- name: ChunkInsert :exec
INSERT INTO files.chunks (content_id, n, data) VALUES (@content_id, @n, @data);

-- ContentDelete deletes a file whole: content, chunks and, if it was kept, the row that says what it is.
-- name: ContentDelete :execrows
DELETE FROM files.contents WHERE id = @id;

-- ContentDeleteUnkept removes what was received and never kept.
-- name: ContentDeleteUnkept :execrows
DELETE FROM files.contents c
WHERE c.received_at < @before AND NOT EXISTS (SELECT 1 FROM files.files f WHERE f.id = c.id);

-- name: ContentInsert :exec
INSERT INTO files.contents (id, received_at) VALUES (@id, @received_at);
