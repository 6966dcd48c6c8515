-- AuditErase takes the values out of what the trail says about a record.
-- name: AuditErase :exec
UPDATE accounts.audit_log SET before = accounts.erased(before), after = accounts.erased(after), erased_at = @now
WHERE record_id = @record_id AND erased_at IS NULL;

-- name: AuditInsert :batchexec
INSERT INTO accounts.audit_log (id, at, actor_id, actor_name, action, path, resource, record_id, before, after, request_id)
VALUES (@id, @at, sqlc.narg('actor_id'), @actor_name, @action, @path, @resource, sqlc.narg('record_id'),
    sqlc.narg('before'), sqlc.narg('after'), @request_id);

-- AuditEraseCustomerNotes does that for the notes about a customer, those that are gone among them.
-- name: AuditEraseCustomerNotes :exec
UPDATE accounts.audit_log SET before = accounts.erased(before), after = accounts.erased(after), erased_at = @now
WHERE erased_at IS NULL AND record_id IN (
    SELECT o.record_id FROM accounts.audit_log o
    WHERE o.resource = 'customer-notes' AND coalesce(o.after, o.before) ->> 'customer_id' = @customer_id::text);

-- AuditGetChanger is who changed a record at an instant, or first after it; what is done to a record and changes no field
-- has no before.
-- name: AuditGetChanger :one
SELECT actor_name FROM accounts.audit_log
WHERE record_id = @record_id AND resource = @resource AND at >= @since AND before IS NOT NULL AND after IS NOT NULL
ORDER BY at, id LIMIT 1;
