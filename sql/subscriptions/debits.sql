-- name: GetDebit :one
SELECT * FROM subscriptions.debits WHERE subscription_id = @subscription_id AND cycle = @cycle;

-- name: GetDebitByPayment :one
SELECT * FROM subscriptions.debits WHERE gateway_payment_id = @gateway_payment_id;

-- name: InsertDebit :execrows
-- No row means that the cycle has its debit already.
INSERT INTO subscriptions.debits (subscription_id, cycle, due_date, amount_cents, register_date)
VALUES (@subscription_id, @cycle, @due_date, @amount_cents, @now)
ON CONFLICT ON CONSTRAINT debits_one_per_cycle DO NOTHING;

-- name: SetDebitOrdered :exec
UPDATE subscriptions.debits SET gateway_payment_id = @gateway_payment_id, ordered_at = @now
WHERE subscription_id = @subscription_id AND cycle = @cycle AND gateway_payment_id IS NULL;
