-- name: DisputeInsert :execrows
INSERT INTO payments.disputes (
    id, gateway, gateway_dispute_id, payment_ref, purpose, local_id, customer_id, amount_cents, reason, state, native_status,
    event_id, opened_at, closed_at, reported_at, created_at, updated_at
) VALUES (
    @id, @gateway, @gateway_dispute_id, @payment_ref, @purpose, @local_id, @customer_id, @amount_cents, sqlc.narg(reason), @state, @native_status,
    sqlc.narg(event_id), @opened_at, sqlc.narg(closed_at), @reported_at, @at, @at
)
ON CONFLICT DO NOTHING;

-- name: DisputeListOf :many
SELECT * FROM payments.disputes
WHERE purpose = @purpose AND local_id = @local_id
ORDER BY opened_at DESC, id DESC;

-- name: DisputeLock :one
SELECT * FROM payments.disputes
WHERE gateway = @gateway AND gateway_dispute_id = @gateway_dispute_id
FOR UPDATE;

-- name: DisputeMove :exec
UPDATE payments.disputes SET
    state = @state, native_status = @native_status, amount_cents = @amount_cents, reason = coalesce(sqlc.narg(reason), reason),
    closed_at = sqlc.narg(closed_at), opened_at = least(opened_at, @opened_at), reported_at = @reported_at, updated_at = @at
WHERE id = @id;

-- name: DisputeOpenCount :one
-- DisputeOpenCount counts disputes that hold money: neither inquiries nor decided ones.
SELECT count(*) FROM payments.disputes
WHERE purpose = @purpose AND local_id = @local_id AND state = 'open';

-- name: DisputeStateOf :one
SELECT state FROM payments.disputes WHERE gateway = @gateway AND gateway_dispute_id = @gateway_dispute_id;
