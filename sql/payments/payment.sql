-- name: PaymentInsert :one
-- PaymentInsert writes the ledger row of a settled payment, and tells whether the
-- gateway payment had none before, and whether any event waits for one of the
-- subjects.
WITH first AS (
    INSERT INTO payments.payments (
        id, gateway, gateway_payment_id, invoice_id, payment_intent_id, purpose, local_id, customer_id,
        amount_cents, method, native_status, settled_at, due_at, shown_at, created_at, updated_at, counted
    ) VALUES (
        @id, @gateway, @gateway_payment_id, sqlc.narg(invoice_id), sqlc.narg(payment_intent_id), @purpose, @local_id, @customer_id,
        @amount_cents, @method, @native_status, @settled_at, sqlc.narg(due_at), sqlc.narg(shown_at), @at, @at,
        CASE WHEN @purpose = 'subscription' THEN false END
    )
    ON CONFLICT DO NOTHING
    RETURNING id
)
SELECT EXISTS (SELECT 1 FROM first) AS is_first, EXISTS (
    SELECT 1 FROM payments.processed_events e
    WHERE e.state = 'waiting' AND e.gateway = @gateway AND e.subjects && @subjects::text[]
) AS is_awaited;

-- name: PaymentInsertNew :exec
-- PaymentInsertNew writes the ledger row of a settled payment that has none.
INSERT INTO payments.payments (
    id, gateway, gateway_payment_id, invoice_id, payment_intent_id, purpose, local_id, customer_id,
    amount_cents, method, native_status, settled_at, due_at, shown_at, created_at, updated_at, counted
) VALUES (
    @id, @gateway, @gateway_payment_id, sqlc.narg(invoice_id), sqlc.narg(payment_intent_id), @purpose, @local_id, @customer_id,
    @amount_cents, @method, @native_status, @settled_at, sqlc.narg(due_at), sqlc.narg(shown_at), @at, @at, sqlc.narg(counted)
);

-- name: PaymentInsertMany :many
-- PaymentInsertMany writes the ledger rows of payments of subscriptions that have none, all of which count, and lists
-- those for which an event waits.
WITH lists AS MATERIALIZED (
    SELECT @ids::text[] AS ids, @gateway_payment_ids::text[] AS gateway_payment_ids, @invoice_ids::text[] AS invoice_ids,
        @payment_intent_ids::text[] AS payment_intent_ids, @local_ids::text[] AS local_ids, @customer_ids::text[] AS customer_ids,
        @amounts::bigint[] AS amounts, @methods::text[] AS methods, @native_statuses::text[] AS native_statuses,
        @settled_ats::timestamptz[] AS settled_ats
), given AS (
    SELECT unnest(l.ids) AS id, unnest(l.gateway_payment_ids) AS gateway_payment_id, unnest(l.invoice_ids) AS invoice_id,
        unnest(l.payment_intent_ids) AS payment_intent_id, unnest(l.local_ids) AS local_id, unnest(l.customer_ids) AS customer_id,
        unnest(l.amounts) AS amount_cents, unnest(l.methods) AS method, unnest(l.native_statuses) AS native_status,
        unnest(l.settled_ats) AS settled_at
    FROM lists l
), written AS (
    INSERT INTO payments.payments (
        id, gateway, gateway_payment_id, invoice_id, payment_intent_id, purpose, local_id, customer_id,
        amount_cents, method, native_status, settled_at, created_at, updated_at, counted
    )
    SELECT g.id, @gateway, g.gateway_payment_id, nullif(g.invoice_id, ''), nullif(g.payment_intent_id, ''), 'subscription', g.local_id, g.customer_id,
        g.amount_cents, g.method, g.native_status, g.settled_at, sqlc.arg(at)::timestamptz, sqlc.arg(at)::timestamptz, true
    FROM given g
)
SELECT g.gateway_payment_id::text AS gateway_payment_id FROM given g
WHERE EXISTS (
    SELECT 1 FROM payments.processed_events e
    WHERE e.state = 'waiting' AND e.gateway = @gateway AND e.subjects && ARRAY[g.gateway_payment_id, g.invoice_id, g.payment_intent_id]
);

-- name: PaymentGetFirstOfSubject :one
-- PaymentGetFirstOfSubject is when the first payment of a subscription or order settled that was
-- made for it: none that an admin lengthened it by.
SELECT p.settled_at FROM payments.payments p
WHERE p.purpose = @purpose AND p.local_id = @local_id AND NOT EXISTS (
    SELECT FROM payments.unapplied_payments u
    WHERE u.gateway = p.gateway AND u.subject = p.gateway_payment_id AND u.state = 'extended')
ORDER BY p.settled_at, p.id LIMIT 1;

-- name: PaymentMarkCounted :exec
-- PaymentMarkCounted notes that a payment opened its subscription or paid one of its periods.
UPDATE payments.payments SET counted = true
WHERE gateway = @gateway AND gateway_payment_id = @gateway_payment_id AND counted IS DISTINCT FROM true;

-- name: PaymentIsCounted :one
-- PaymentIsCounted tells whether a payment opened its subscription or paid one of its periods.
SELECT coalesce(counted, false)::boolean FROM payments.payments WHERE gateway = @gateway AND gateway_payment_id = @gateway_payment_id;

-- name: PaymentListOf :many
SELECT * FROM payments.payments
WHERE purpose = @purpose AND local_id = @local_id
ORDER BY settled_at DESC, id DESC;

-- name: PaymentRepeat :exec
-- PaymentRepeat adds what a later word about a settled payment tells. Approved
-- becomes received and never the other way round; a state past both, such as
-- refunded, stays.
UPDATE payments.payments SET
    native_status = CASE WHEN native_status = 'CONFIRMED' AND sqlc.arg(native_status)::text = 'RECEIVED' THEN 'RECEIVED' ELSE native_status END,
    invoice_id = coalesce(invoice_id, sqlc.narg(invoice_id)),
    payment_intent_id = coalesce(payment_intent_id, sqlc.narg(payment_intent_id)),
    due_at = coalesce(due_at, sqlc.narg(due_at)),
    shown_at = coalesce(shown_at, sqlc.narg(shown_at)),
    updated_at = @at
WHERE gateway = @gateway AND gateway_payment_id = @gateway_payment_id;

-- name: PaymentListPaidFor :many
-- PaymentListPaidFor lists the other payments of a subscription that count, were charged for the same day, and of which something is left.
SELECT p.gateway_payment_id, (p.shown_at IS NOT NULL)::boolean AS is_shown FROM payments.payments p
WHERE p.purpose = 'subscription' AND p.local_id = @local_id AND p.gateway = @gateway AND p.due_at = @due_at::timestamptz AND p.gateway_payment_id <> @gateway_payment_id AND p.counted
  AND NOT EXISTS (SELECT 1 FROM payments.bought_nothing n WHERE n.gateway = p.gateway AND n.gateway_payment_id = p.gateway_payment_id)
  AND p.amount_cents > (SELECT coalesce(sum(r.amount_cents), 0) FROM payments.refunds r
      WHERE r.gateway = p.gateway AND r.payment_ref = p.gateway_payment_id AND r.status <> 'failed')
ORDER BY p.id;

-- name: PaymentConfirm :exec
-- PaymentConfirm notes that the gateway shows a payment paid, and for which day it was made.
UPDATE payments.payments SET shown_at = coalesce(shown_at, @at::timestamptz), due_at = coalesce(sqlc.narg(due_at), due_at), updated_at = @at
WHERE gateway = @gateway AND gateway_payment_id = @gateway_payment_id;

-- name: PaymentClearCounted :one
-- PaymentClearCounted takes a payment out of what opened its subscription or paid its periods.
UPDATE payments.payments SET counted = false, updated_at = @at
WHERE gateway = @gateway AND gateway_payment_id = @gateway_payment_id AND counted
RETURNING *;

-- name: PaymentListUnconfirmedSince :many
-- PaymentListUnconfirmedSince lists the payments that were booked since, and that only an event has told.
SELECT * FROM payments.payments
WHERE gateway = @gateway AND created_at >= @since AND shown_at IS NULL AND purpose <> 'customer'
ORDER BY id;

-- name: PaymentGetByGatewayID :one
-- PaymentGetByGatewayID finds the ledger row by any of the gateway's ids: payment,
-- invoice or payment intent.
SELECT * FROM payments.payments
WHERE gateway = @gateway AND (gateway_payment_id = ANY(@ids::text[]) OR payment_intent_id = ANY(@ids::text[]))
ORDER BY settled_at LIMIT 1;

-- name: PaymentLinkIntent :execrows
-- PaymentLinkIntent tells a ledger row keyed by its invoice the payment intent.
UPDATE payments.payments SET payment_intent_id = @payment_intent_id, updated_at = @at
WHERE gateway = @gateway AND gateway_payment_id = @invoice_id AND payment_intent_id IS NULL;

-- name: PaymentListSubjects :many
-- PaymentListSubjects lists the ids under which gateways speak of a customer's
-- money.
SELECT coalesce(s.subject, '')::text AS subject FROM (
    SELECT unnest(ARRAY[p.gateway_payment_id, p.invoice_id, p.payment_intent_id, p.local_id::text]) AS subject FROM payments.payments p WHERE p.customer_id = @customer_id
    UNION SELECT unnest(ARRAY[r.payment_ref, r.local_id::text]) FROM payments.refunds r WHERE r.customer_id = @customer_id
    UNION SELECT unnest(ARRAY[d.payment_ref, d.local_id::text]) FROM payments.disputes d WHERE d.customer_id = @customer_id
) s WHERE s.subject <> '';

-- name: PaymentMoveTo :execrows
-- PaymentMoveTo makes a payment that of another subscription.
UPDATE payments.payments SET purpose = 'subscription', local_id = @local_id, updated_at = @at
WHERE gateway = @gateway AND gateway_payment_id = @gateway_payment_id AND customer_id = @customer_id;

-- name: PaymentCountRecent :many
-- PaymentCountRecent counts what the ledgers hold since the instant, by the gateways' clocks, by gateway and result. Of
-- each ledger the newest so many rows count.
SELECT l.gateway, l.result, count(*) AS entries FROM (
    (SELECT p.gateway, 'settled' AS result FROM payments.payments p
        WHERE p.settled_at >= @since ORDER BY p.settled_at DESC LIMIT @most)
    UNION ALL (SELECT f.gateway, 'failed' FROM payments.failed_attempts f
        WHERE f.failed_at >= @since ORDER BY f.failed_at DESC LIMIT @most)
    UNION ALL (SELECT r.gateway, 'refunded' FROM payments.refunds r
        WHERE r.status = 'done' AND r.gateway IS NOT NULL AND r.refunded_at >= @since ORDER BY r.refunded_at DESC LIMIT @most)
    UNION ALL (SELECT d.gateway, 'disputed' FROM payments.disputes d
        WHERE d.opened_at >= @since ORDER BY d.opened_at DESC LIMIT @most)
) l GROUP BY l.gateway, l.result;
