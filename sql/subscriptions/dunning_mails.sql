-- name: DunningMailClaim :one
-- No row: it is not due, somebody else has it in hand, or it is done with.
UPDATE subscriptions.dunning_mails SET claimed_at = @now
WHERE subscription_id = @subscription_id AND payment_id = @payment_id AND day = @day
  AND sent_at IS NULL AND dropped_at IS NULL AND due_at <= @now AND (claimed_at IS NULL OR claimed_at < @lost_since)
RETURNING *;

-- name: DunningMailInsert :execrows
-- No row means that this payment's mail of that day is planned already.
INSERT INTO subscriptions.dunning_mails (subscription_id, payment_id, day, amount_cents, due_at, register_date)
VALUES (@subscription_id, @payment_id, @day, @amount_cents, @due_at, @now)
ON CONFLICT ON CONSTRAINT dunning_mails_once_a_day DO NOTHING;

-- name: DunningMailListDue :many
SELECT subscription_id, payment_id, day FROM subscriptions.dunning_mails
WHERE sent_at IS NULL AND dropped_at IS NULL AND due_at <= @now AND (claimed_at IS NULL OR claimed_at < @lost_since)
ORDER BY due_at LIMIT 500;

-- name: DunningMailRelease :exec
-- It was sent, or dropped, or is to be tried again at due_at.
UPDATE subscriptions.dunning_mails SET claimed_at = NULL, due_at = @due_at, sent_at = @sent_at, dropped_at = @dropped_at
WHERE subscription_id = @subscription_id AND payment_id = @payment_id AND day = @day;
