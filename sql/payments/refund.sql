-- name: RefundFail :one
-- RefundFail marks a refund that is asked for as failed, with its history: 0 when a report was faster.
WITH moved AS (
    UPDATE payments.refunds r SET status = @status, failure = @failure::text, updated_at = @at
    WHERE r.id = @id AND r.status = @from_status
    RETURNING r.id, r.status
), noted AS (
    INSERT INTO payments.refund_transitions (refund_id, at, from_state, to_state, action, reason)
    SELECT moved.id, @at, @from_status, moved.status, @action, nullif(@failure::text, '') FROM moved
)
SELECT count(*) FROM moved;

-- name: RefundFind :one
SELECT * FROM payments.refunds WHERE id = @id;

-- name: RefundCountFailed :one
-- RefundCountFailed counts the refunds that were asked for since the instant and failed, and the unapplied payments that
-- nobody has decided about.
SELECT (SELECT count(*) FROM payments.refunds f WHERE f.status = 'failed' AND f.requested_at >= @since) AS refunds,
    (SELECT count(*) FROM payments.unapplied_payments u WHERE u.state = 'open') AS unapplied;

-- name: RefundInsert :exec
-- RefundInsert writes a refund as the action begins it.
WITH made AS (
    INSERT INTO payments.refunds (
        id, gateway, payment_ref, gateway_refund_id, purpose, local_id, customer_id, amount_cents, kind, status, source,
        event_id, event_type, reason, admin, admin_id, requested_at, refunded_at, created_at, updated_at
    ) VALUES (
        @id, sqlc.narg(gateway), @payment_ref, sqlc.narg(gateway_refund_id), @purpose, @local_id, @customer_id, @amount_cents, @kind, @status, @source,
        @event_id, @event_type, sqlc.narg(reason), sqlc.narg(admin), sqlc.narg(admin_id), @requested_at, sqlc.narg(refunded_at), @at, @at
    )
    RETURNING id, status
)
INSERT INTO payments.refund_transitions (refund_id, at, to_state, action)
SELECT id, @at, status, @action FROM made;

-- name: RefundListOf :many
SELECT * FROM payments.refunds
WHERE purpose = @purpose AND local_id = @local_id
ORDER BY requested_at DESC, id DESC;

-- name: RefundListOfPayment :many
-- RefundListOfPayment gives the rows of one payment, oldest first.
SELECT * FROM payments.refunds
WHERE gateway = @gateway AND payment_ref = @payment_ref
ORDER BY requested_at, id;

-- name: MoneyLock :exec
-- MoneyLock lets all that takes of one payment pass one after the other until the
-- transaction ends, by whichever of the payment's names each knows it: all of them are
-- locked, in order.
SELECT pg_advisory_xact_lock(hashtextextended('payments.refunds/' || @gateway::text || '/' || n.name, 0))
FROM (
    SELECT unnest(@names::text[]) AS name
    UNION
    SELECT unnest(ARRAY[p.gateway_payment_id, p.invoice_id, p.payment_intent_id]) FROM payments.payments p
    WHERE p.gateway = @gateway AND (p.gateway_payment_id = ANY(@names::text[]) OR p.payment_intent_id = ANY(@names::text[]))
    ORDER BY name
) n
WHERE n.name <> '';

-- name: RefundSum :one
SELECT coalesce(sum(amount_cents), 0)::bigint FROM payments.refunds
WHERE purpose = @purpose AND local_id = @local_id AND status = 'done';

-- name: RefundGetStatus :one
-- RefundGetStatus is the status of a refund that the gateway names.
SELECT status FROM payments.refunds WHERE gateway = @gateway AND gateway_refund_id = @gateway_refund_id;

-- name: RefundSumSince :one
-- RefundSumSince is what has been given back of subscriptions or orders by refunds asked for since an instant.
SELECT coalesce(sum(amount_cents), 0)::bigint FROM payments.refunds
WHERE purpose = @purpose AND local_id = ANY(@local_ids::text[]) AND status = 'done' AND requested_at >= @since;

-- name: RefundListSums :many
-- RefundListSums is what has been given back of the payments of many subscriptions or orders.
SELECT local_id, payment_ref, sum(amount_cents)::bigint AS cents FROM payments.refunds
WHERE purpose = @purpose AND local_id = ANY(@local_ids::text[]) AND status = 'done' GROUP BY local_id, payment_ref;

-- name: RefundSumOfPayment :one
SELECT coalesce(sum(amount_cents), 0)::bigint FROM payments.refunds
WHERE gateway = @gateway AND payment_ref = @payment_ref AND status = 'done';

-- name: RefundUpdate :one
-- RefundUpdate writes what a report says of a refund, with its history where that moves it. 0: it was moved meanwhile.
WITH moved AS (
    UPDATE payments.refunds r SET
        gateway_refund_id = coalesce(sqlc.narg(gateway_refund_id)::text, gateway_refund_id), amount_cents = @amount_cents, status = @status,
        reason = coalesce(reason, sqlc.narg(reason)::text), failure = sqlc.narg(failure), refunded_at = sqlc.narg(refunded_at), updated_at = @at
    WHERE r.id = @id AND r.status = @from_status
    RETURNING r.id, r.status
), noted AS (
    INSERT INTO payments.refund_transitions (refund_id, at, from_state, to_state, action, reason)
    SELECT moved.id, @at, @from_status, moved.status, @action, sqlc.narg(failure) FROM moved
    WHERE moved.status <> @from_status
)
SELECT count(*) FROM moved;

-- name: RefundReportInsert :exec
INSERT INTO payments.refund_reports (gateway, payment_ref, kind, refund_id, reported_at, amount_cents)
VALUES (@gateway, @payment_ref, @kind, @refund_id, @reported_at, @amount_cents)
ON CONFLICT DO NOTHING;

-- name: RefundReportList :many
SELECT kind, refund_id, reported_at, amount_cents FROM payments.refund_reports
WHERE gateway = @gateway AND payment_ref = @payment_ref
ORDER BY reported_at;

-- name: RefundListForgotten :many
-- RefundListForgotten gives requests from before the instant that nobody asks about.
SELECT r.* FROM payments.refunds r
WHERE r.status = 'requested' AND r.source <> 'gateway' AND r.requested_at < @before
    AND NOT EXISTS (SELECT 1 FROM payments.intents i WHERE i.subject_id = r.id AND i.kind = 'refund' AND i.state = 'open')
ORDER BY r.requested_at LIMIT 100;

-- name: RefundListBookedSince :many
-- RefundListBookedSince adds up what is booked as given back of the payments of which a
-- refund was booked or changed since.
SELECT r.payment_ref, min(r.local_id)::text AS local_id, sum(r.amount_cents)::bigint AS amount_cents FROM payments.refunds r
WHERE r.gateway = @gateway AND r.status = 'done'
  AND r.payment_ref IN (SELECT t.payment_ref FROM payments.refunds t WHERE t.gateway = @gateway AND t.status = 'done' AND t.updated_at >= @since)
GROUP BY r.payment_ref
ORDER BY r.payment_ref;
