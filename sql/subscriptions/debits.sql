-- name: ClaimDebit :one
-- Begins the debit of a cycle, or takes up one whose order nobody has set about
-- since the instant. No row means that it is ordered, or being ordered.
INSERT INTO subscriptions.debits (subscription_id, cycle, due_date, amount_cents, register_date, tried_at)
VALUES (@subscription_id, @cycle, @due_date, @amount_cents, @now, @now)
ON CONFLICT ON CONSTRAINT debits_one_per_cycle DO UPDATE SET tried_at = excluded.tried_at
WHERE debits.gateway_payment_id IS NULL AND debits.tried_at <= @before
RETURNING *;

-- name: GetDebit :one
SELECT * FROM subscriptions.debits WHERE subscription_id = @subscription_id AND cycle = @cycle;

-- name: GetDebitByPayment :one
SELECT * FROM subscriptions.debits WHERE gateway_payment_id = @gateway_payment_id;

-- name: SetDebitOrdered :exec
UPDATE subscriptions.debits SET gateway_payment_id = @gateway_payment_id, ordered_at = @now
WHERE subscription_id = @subscription_id AND cycle = @cycle AND gateway_payment_id IS NULL;
