-- name: ImportBegin :one
-- ImportBegin counts an attempt of one that runs.
UPDATE catalog.imports SET attempts = attempts + 1, written = 0 WHERE id = @id AND state = 'running' RETURNING *;

-- name: ImportDeleteOld :exec
-- ImportDeleteOld forgets what ended, or was checked and never started, before an instant.
DELETE FROM catalog.imports
WHERE ended_at < @ended_before::timestamptz OR state = 'checked' AND created_at < @checked_before::timestamptz;

-- name: ImportEnd :execrows
-- ImportEnd stops one that has not ended.
UPDATE catalog.imports SET state = 'stopped', written = 0, ended_at = @now::timestamptz
WHERE id = @id AND state IN ('checked', 'running');

-- name: ImportFail :execrows
UPDATE catalog.imports SET state = 'failed', error = @error, written = 0, ended_at = @now::timestamptz
WHERE id = @id AND state = 'running';

-- name: ImportFinish :execrows
-- ImportFinish ends one in the transaction that writes its records: none where it was stopped meanwhile.
UPDATE catalog.imports SET state = 'done', written = creates + updates, ended_at = @now::timestamptz
WHERE id = @id AND state = 'running';

-- name: ImportGet :one
SELECT * FROM catalog.imports WHERE id = @id;

-- name: ImportInsert :exec
INSERT INTO catalog.imports (id, filename, delimiter, actor_id, total, creates, updates, invalid, created_at)
VALUES (@id, @filename, @delimiter, @actor_id, @total, @creates, @updates, @invalid, @created_at);

-- name: ImportList :many
-- ImportList returns the last ones of somebody, of everybody for the empty id.
SELECT * FROM catalog.imports WHERE @actor_id::text = '' OR actor_id = @actor_id
ORDER BY created_at DESC, id DESC LIMIT 50;

-- name: ImportListOf :many
SELECT * FROM catalog.imports WHERE id = ANY(@ids::text[]);

-- name: ImportListRunning :many
SELECT id FROM catalog.imports WHERE state = 'running' ORDER BY id;

-- name: ImportOpen :execrows
-- ImportOpen has a checked one run.
UPDATE catalog.imports SET state = 'running', claims = @claims, started_at = @now::timestamptz
WHERE id = @id AND state = 'checked' AND invalid = 0 AND creates + updates > 0;

-- name: ImportProgress :execrows
-- ImportProgress says how far the transaction is, outside of it; none where the import is stopped.
UPDATE catalog.imports SET written = @written WHERE id = @id AND state = 'running';
