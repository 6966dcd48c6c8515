-- name: DisputeInsert :execrows
-- DisputeInsert writes a dispute as its first report begins it, unless it is known.
WITH made AS (
    INSERT INTO payments.disputes (
        id, gateway, gateway_dispute_id, payment_ref, purpose, local_id, customer_id, amount_cents, reason, kind, state, native_status,
        event_id, opened_at, closed_at, evidence_due_at, evidence_sent, reported_at, created_at, updated_at
    ) VALUES (
        @id, @gateway, @gateway_dispute_id, @payment_ref, @purpose, @local_id, @customer_id, @amount_cents, sqlc.narg(reason), @kind, @state, @native_status,
        sqlc.narg(event_id), @opened_at, sqlc.narg(closed_at), sqlc.narg(evidence_due_at), @evidence_sent, @reported_at, @at, @at
    )
    ON CONFLICT DO NOTHING
    RETURNING id, state
)
INSERT INTO payments.dispute_transitions (dispute_id, at, to_state, action, reason)
SELECT id, @at, state, @action, @why FROM made;

-- name: DisputeListOf :many
-- DisputeListOf gives the disputes of a subscription or order, newest first, and says which are of money that gave nobody anything.
SELECT sqlc.embed(d), EXISTS (SELECT 1 FROM payments.bought_nothing n
    WHERE n.gateway = d.gateway AND (n.gateway_payment_id = d.payment_ref OR n.payment_intent_id = d.payment_ref)) AS of_nothing
FROM payments.disputes d
WHERE d.purpose = @purpose AND d.local_id = @local_id
ORDER BY d.opened_at DESC, d.id DESC;

-- name: DisputeListOfPayment :many
-- DisputeListOfPayment gives the disputes of one payment, oldest first.
SELECT * FROM payments.disputes
WHERE gateway = @gateway AND payment_ref = @payment_ref
ORDER BY opened_at, id;

-- name: DisputeAdopt :exec
-- DisputeAdopt has the gateway's first report of a dispute take over what an
-- admin entered by hand for the same payment.
UPDATE payments.disputes d SET gateway_dispute_id = @gateway_dispute_id, kind = @kind, native_status = @native_status,
    evidence_due_at = sqlc.narg(evidence_due_at), evidence_sent = @evidence_sent, reported_at = least(d.reported_at, @reported_at), updated_at = @at
WHERE d.id = (
    SELECT m.id FROM payments.disputes m
    WHERE m.gateway = @gateway AND m.payment_ref = @payment_ref AND m.state = 'open' AND m.native_status = 'reported_by_admin'
    ORDER BY m.opened_at LIMIT 1)
  AND NOT EXISTS (SELECT 1 FROM payments.disputes o WHERE o.gateway = @gateway AND o.gateway_dispute_id = @gateway_dispute_id);

-- name: DisputeLock :one
SELECT * FROM payments.disputes
WHERE gateway = @gateway AND gateway_dispute_id = @gateway_dispute_id
FOR UPDATE;

-- name: DisputeMove :one
-- DisputeMove writes what a report says of a dispute, with its history where that moves it. 0: it was moved meanwhile.
WITH moved AS (
    UPDATE payments.disputes d SET
        state = @state, native_status = @native_status, amount_cents = @amount_cents, reason = coalesce(sqlc.narg(reason)::text, reason),
        closed_at = sqlc.narg(closed_at), opened_at = least(opened_at, @opened_at::timestamptz),
        evidence_due_at = coalesce(sqlc.narg(evidence_due_at)::timestamptz, evidence_due_at), evidence_sent = evidence_sent OR @evidence_sent::bool, reported_at = @reported_at, updated_at = @at
    WHERE d.id = @id AND d.state = @from_state
    RETURNING d.id, d.state
), noted AS (
    INSERT INTO payments.dispute_transitions (dispute_id, at, from_state, to_state, action, reason)
    SELECT was.id, @at, was.state, moved.state, @action, @why FROM moved JOIN payments.disputes was ON was.id = moved.id
    WHERE moved.state <> was.state
)
SELECT count(*) FROM moved;

-- name: DisputeHasTakenPayment :one
-- DisputeHasTakenPayment reports whether a lost dispute of a payment stands for what the gateway counts among its refunds.
SELECT EXISTS (SELECT 1 FROM payments.disputes
    WHERE gateway = @gateway AND payment_ref = @payment_ref AND state = 'lost' AND (@lost_by_refund::bool OR kind = 'med'));

-- name: DisputeIsLostByRefund :one
-- DisputeIsLostByRefund reports whether a dispute counts as lost by the refunds of its payment, of which one is not known to have failed.
SELECT EXISTS (SELECT 1 FROM payments.disputes d WHERE d.gateway = @gateway AND d.gateway_dispute_id = @gateway_dispute_id AND d.state = 'lost'
    AND NOT EXISTS (SELECT 1 FROM payments.refund_reports r WHERE r.gateway = d.gateway AND r.payment_ref = @payment_ref AND r.refund_id = @refund_id AND r.kind = 'failed'));

-- name: DisputeSumLost :one
-- DisputeSumLost is what lost disputes took of a payment, by any of its names.
SELECT coalesce(sum(amount_cents), 0)::bigint FROM payments.disputes
WHERE gateway = @gateway AND payment_ref = ANY(@refs::text[]) AND state = 'lost';

-- name: DisputeGetState :one
SELECT state FROM payments.disputes WHERE gateway = @gateway AND gateway_dispute_id = @gateway_dispute_id;

-- name: DisputeGet :one
-- DisputeGet finds a dispute of a subscription or order by our id or the gateway's.
SELECT * FROM payments.disputes
WHERE purpose = @purpose AND local_id = @local_id AND (id::text = @dispute_id::text OR gateway_dispute_id = @dispute_id::text);

-- name: DisputeWithdraw :execrows
-- DisputeWithdraw takes back an open dispute that an admin entered by hand.
WITH moved AS (
    UPDATE payments.disputes d SET state = @state, closed_at = @at::timestamptz, updated_at = @at::timestamptz
    WHERE d.id = @id AND d.state = @from_state AND d.native_status = 'reported_by_admin'
    RETURNING d.id, d.state
)
INSERT INTO payments.dispute_transitions (dispute_id, at, from_state, to_state, action, reason)
SELECT was.id, @at, was.state, moved.state, @action, @why FROM moved JOIN payments.disputes was ON was.id = moved.id;

-- name: DisputeListBookedSince :many
-- DisputeListBookedSince gives the disputes that hold or took money, told by the gateway,
-- booked or changed since.
SELECT * FROM payments.disputes
WHERE gateway = @gateway AND state IN ('open', 'lost') AND native_status <> 'reported_by_admin' AND updated_at >= @since
ORDER BY id;
