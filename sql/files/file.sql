-- name: FileDelete :execrows
DELETE FROM files.contents c USING files.files f
WHERE f.id = c.id AND f.id = @id AND f.owner_kind = @owner_kind AND f.owner_id = @owner_id;

-- FileDeleteMany deletes by id alone, for the daily job.
-- name: FileDeleteMany :execrows
DELETE FROM files.contents WHERE id = ANY (@ids::text[]);

-- FileDeleteOfRecord deletes a record's files of one purpose, or of any when purpose is empty.
-- name: FileDeleteOfRecord :execrows
DELETE FROM files.contents c USING files.files f
WHERE f.id = c.id AND f.owner_kind = @owner_kind AND f.owner_id = @owner_id
  AND (@purpose::text = '' OR f.purpose = @purpose);

-- name: FileGet :one
SELECT * FROM files.files WHERE id = @id;

-- name: FileInsert :one
INSERT INTO files.files (id, purpose, visibility, owner_kind, owner_id, reader_id, filename, content_type, size, sha256, created_by, created_at)
VALUES (@id, @purpose, @visibility, @owner_kind, @owner_id, sqlc.narg('reader_id'), @filename, @content_type, @size, @sha256, sqlc.narg('created_by'), @created_at)
RETURNING *;

-- name: FileListOfRecords :many
SELECT * FROM files.files WHERE owner_kind = @owner_kind AND owner_id = ANY (@owner_ids::text[])
ORDER BY owner_id, created_at, id;

-- FileListOfKind lists the files of one kind made before an instant, by id, for the daily job.
-- name: FileListOfKind :many
SELECT id, owner_id, purpose FROM files.files
WHERE owner_kind = @owner_kind AND created_at < @before AND id > @after
ORDER BY id LIMIT @page_size;
