-- name: ExportChunkDelete :execrows
DELETE FROM finance.export_chunks WHERE export_id = @export_id;

-- name: ExportChunkGet :one
SELECT data FROM finance.export_chunks WHERE export_id = @export_id AND attempt = @attempt AND n = @n;

-- name: ExportChunkInsert :execrows
-- Adds a piece while the attempt holds the export: whoever deletes or takes over the export waits for it, or comes before it.
INSERT INTO finance.export_chunks (export_id, attempt, n, data)
SELECT e.id, e.attempt, @n::integer, @data::bytea FROM finance.exports e
WHERE e.id = @export_id AND e.attempt = @attempt AND e.status = 'running' FOR SHARE;
