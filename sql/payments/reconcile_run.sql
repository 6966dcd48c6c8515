-- name: ReconcileRunInsert :exec
INSERT INTO payments.reconcile_runs (id, started_by, starter, dry_run, gateways, since, started_at, seen_at, updated_at)
VALUES (@id, @started_by, sqlc.narg(starter), @dry_run, @gateways::text[], @since, @at, clock_timestamp(), @at);

-- name: ReconcileRunProgress :exec
-- ReconcileRunProgress says that the run lives, and how far it is.
UPDATE payments.reconcile_runs SET
    checked = @checked, found = @found, repaired = @repaired, not_repaired = @not_repaired, failed = @failed,
    ended_at = sqlc.narg(ended_at), seen_at = clock_timestamp(), updated_at = @at
WHERE id = @id AND ended_at IS NULL;

-- name: ReconcileRunDeleteBefore :execrows
-- ReconcileRunDeleteBefore deletes the runs that began before the instant, with all that they found.
DELETE FROM payments.reconcile_runs WHERE started_at < @before;

-- name: ReconcileFindingInsert :exec
INSERT INTO payments.reconcile_findings (id, run_id, gateway, kind, verdict, gateway_object_id, record, local_id, amount_cents, was, became, detail, found_at)
VALUES (@id, @run_id, @gateway, @kind, @verdict, @gateway_object_id, sqlc.narg(record), sqlc.narg(local_id), sqlc.narg(amount_cents),
    sqlc.narg(was)::jsonb, sqlc.narg(became)::jsonb, sqlc.narg(detail), @found_at);

-- name: PaymentMoneyGet :one
-- PaymentMoneyGet tells what the ledgers have of a payment, and whose it is, by any of its names.
WITH paid AS (
    SELECT p.purpose, p.local_id, p.native_status, p.amount_cents FROM payments.payments p
    WHERE p.gateway = @gateway AND (p.gateway_payment_id = @ref::text OR p.payment_intent_id = @ref::text) LIMIT 1
), given AS (
    SELECT r.purpose, r.local_id, r.status, r.amount_cents FROM payments.refunds r WHERE r.gateway = @gateway AND r.payment_ref = @ref::text
), disputed AS (
    SELECT d.purpose, d.local_id, d.state, d.opened_at FROM payments.disputes d WHERE d.gateway = @gateway AND d.payment_ref = @ref::text
)
SELECT coalesce((SELECT native_status FROM paid), '')::text AS payment_status,
    coalesce((SELECT amount_cents FROM paid), 0)::bigint AS paid_cents,
    coalesce((SELECT sum(amount_cents) FROM given WHERE status = 'done'), 0)::bigint AS refunded_cents,
    coalesce((SELECT state FROM disputed ORDER BY opened_at DESC LIMIT 1), '')::text AS dispute,
    coalesce((SELECT whose.local_id::text FROM (SELECT local_id, purpose FROM paid UNION ALL SELECT local_id, purpose FROM given
        UNION ALL SELECT local_id, purpose FROM disputed) whose WHERE whose.purpose <> 'customer' LIMIT 1), '')::text AS local_id;
