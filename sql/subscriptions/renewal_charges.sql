-- name: RenewalChargeFind :one
-- The charge that has our own id, else the one that has the payment.
SELECT * FROM subscriptions.renewal_charges
WHERE id = @id OR gateway = @gateway AND gateway_payment_id = sqlc.narg(gateway_payment_id)
ORDER BY id = @id DESC LIMIT 1;

-- name: RenewalChargeGetOpen :one
-- The open code of the subscription, the newest first.
SELECT * FROM subscriptions.renewal_charges WHERE subscription_id = @subscription_id AND state = 'open' ORDER BY register_date DESC, id DESC LIMIT 1;

-- name: RenewalChargeGetOpenOf :one
-- The open code of one period: that of the cycle, or of a manual PIX the next.
SELECT * FROM subscriptions.renewal_charges
WHERE subscription_id = @subscription_id AND state = 'open' AND cycle IS NOT DISTINCT FROM sqlc.narg(cycle);

-- name: RenewalChargeGet :one
SELECT * FROM subscriptions.renewal_charges WHERE id = @id;

-- name: RenewalChargeGetByPayment :one
SELECT * FROM subscriptions.renewal_charges WHERE gateway = @gateway AND gateway_payment_id = @gateway_payment_id;

-- name: RenewalChargeLock :one
SELECT * FROM subscriptions.renewal_charges WHERE id = @id FOR UPDATE;

-- name: RenewalChargeInsert :one
WITH begun AS (
    INSERT INTO subscriptions.order_transitions (subscription_id, kind, item, at, to_state, action, reason)
    VALUES (@subscription_id, 'renewal_charge', @id, @now, @state, @action, @reason)
)
INSERT INTO subscriptions.renewal_charges (
    id, subscription_id, customer_id, gateway, cycle, amount_cents, state, payable_until, intent_open, register_date, register_update_date
) VALUES (
    @id, @subscription_id, @customer_id, @gateway, sqlc.narg(cycle), @amount_cents, @state, @payable_until, true, @now, @now
) RETURNING *;

-- name: RenewalChargeListDue :many
-- Open codes that are to be made unpayable: one that has run out, or of a subscription that has ended.
SELECT c.id FROM subscriptions.renewal_charges c JOIN subscriptions.subscriptions s ON s.id = c.subscription_id
WHERE c.state = 'open' AND NOT c.intent_open
  AND (c.payable_until <= @now OR c.pix_expires_at <= @now OR s.status IN ('cancelled', 'expired'))
ORDER BY c.register_date LIMIT 500;

-- name: RenewalChargeListOpen :many
SELECT id FROM subscriptions.renewal_charges WHERE subscription_id = @subscription_id AND state = 'open' ORDER BY register_date;
