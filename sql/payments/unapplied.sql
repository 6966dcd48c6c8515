-- name: UnappliedInsert :one
-- UnappliedInsert puts a case on the list with the first row of its history, and
-- returns its id; no row when it is there already.
WITH added AS (
    INSERT INTO payments.unapplied_payments (
        id, kind, gateway, subject, gateway_payment_id, amount_cents, customer_id, subscription_id, order_id, paid_at, note, automatic,
        created_at, updated_at
    ) VALUES (
        @id, @kind, @gateway, @subject, sqlc.narg(gateway_payment_id), sqlc.narg(amount_cents), sqlc.narg(customer_id), sqlc.narg(subscription_id),
        sqlc.narg(order_id), sqlc.narg(paid_at), sqlc.narg(note), @automatic, @at, @at
    )
    ON CONFLICT DO NOTHING
    RETURNING id, state, amount_cents
), noted AS (
    INSERT INTO payments.unapplied_decisions (unapplied_id, at, to_state, source, amount_cents, reason)
    SELECT id, @at, state, 'platform', amount_cents, sqlc.narg(note) FROM added
)
SELECT id FROM added;

-- name: UnappliedLearn :exec
-- UnappliedLearn adds to a case what was not known of it: a kind says more than
-- unknown, a value more than none.
UPDATE payments.unapplied_payments SET
    kind = CASE WHEN kind = 'unknown' AND state = 'open' AND coalesce(amount_cents, sqlc.narg(amount_cents)::bigint) IS NOT NULL THEN @kind ELSE kind END,
    amount_cents = coalesce(amount_cents, sqlc.narg(amount_cents)), customer_id = coalesce(customer_id, sqlc.narg(customer_id)),
    subscription_id = coalesce(subscription_id, sqlc.narg(subscription_id)), order_id = coalesce(order_id, sqlc.narg(order_id)),
    paid_at = coalesce(paid_at, sqlc.narg(paid_at)), note = coalesce(note, sqlc.narg(note)), updated_at = @at
WHERE gateway = @gateway AND subject = @subject
  AND (kind = 'unknown' AND @kind <> 'unknown' OR amount_cents IS NULL OR customer_id IS NULL OR subscription_id IS NULL OR order_id IS NULL OR paid_at IS NULL OR note IS NULL);
