-- name: ExportBeat :execrows
-- Says that the worker of that attempt is alive and how far it is. No row when the export is deleted or given to another.
UPDATE finance.exports SET rows_written = @rows_written, lease_until = @lease_until::timestamptz
WHERE id = @id AND attempt = @attempt AND status = 'running';

-- name: ExportBegin :one
-- Gives the export to one worker: what waits, or what a worker has left without a word.
UPDATE finance.exports
SET status = 'running', attempt = attempt + 1, lease_until = @lease_until::timestamptz, started_at = @now::timestamptz, rows_total = NULL, rows_written = 0
WHERE id = @id AND (status = 'queued' OR status = 'running' AND lease_until < @now::timestamptz)
RETURNING *;

-- name: ExportCountRows :execrows
-- Notes what the progress is measured by.
UPDATE finance.exports SET rows_total = @rows_total::bigint WHERE id = @id AND attempt = @attempt AND status = 'running';

-- name: ExportDelete :execrows
-- Stops and removes an export.
DELETE FROM finance.exports WHERE id = @id;

-- name: ExportDeleteExpired :execrows
DELETE FROM finance.exports WHERE expires_at <= @now::timestamptz;

-- name: ExportFail :execrows
UPDATE finance.exports
SET status = 'failed', error = @error::text, lease_until = NULL, finished_at = @now::timestamptz, expires_at = @expires_at::timestamptz
WHERE id = @id AND attempt = @attempt AND status = 'running';

-- name: ExportFinish :execrows
UPDATE finance.exports
SET status = 'done', size = @size::bigint, rows_written = @rows_written, lease_until = NULL, finished_at = @now::timestamptz, expires_at = @expires_at::timestamptz
WHERE id = @id AND attempt = @attempt AND status = 'running';

-- name: ExportGet :one
SELECT * FROM finance.exports WHERE id = @id;

-- name: ExportInsert :execrows
-- Makes an export, unless the same admin waits for the same one already.
INSERT INTO finance.exports (id, requested_by, kind, format, parameters, filename, created_at)
VALUES (@id, @requested_by, @kind, @format, @parameters, @filename, @created_at)
ON CONFLICT (requested_by, kind, md5(parameters::text)) WHERE status IN ('queued', 'running') DO NOTHING;

-- name: ExportList :many
SELECT * FROM finance.exports WHERE id = ANY (@ids::text[]);

-- name: ExportListLost :many
-- Returns exports whose worker has fallen silent.
SELECT id, attempt FROM finance.exports WHERE status = 'running' AND lease_until < @now::timestamptz ORDER BY lease_until LIMIT 100;

-- name: ExportGetOpen :one
SELECT * FROM finance.exports
WHERE requested_by = @requested_by AND kind = @kind AND parameters = @parameters AND status IN ('queued', 'running');

-- name: ExportRequeue :execrows
-- Takes an attempt back; the next worker begins anew.
UPDATE finance.exports SET status = 'queued', lease_until = NULL, rows_written = 0, rows_total = NULL
WHERE id = @id AND attempt = @attempt AND status = 'running';
