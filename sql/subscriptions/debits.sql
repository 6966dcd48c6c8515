-- name: DebitClaim :one
-- Begins the debit of a cycle, or takes up one whose order nobody has set about
-- since the instant. No row means that it is ordered, or being ordered.
INSERT INTO subscriptions.debits (subscription_id, cycle, due_date, amount_cents, register_date, tried_at)
VALUES (@subscription_id, @cycle, @due_date, @amount_cents, @now, @now)
ON CONFLICT ON CONSTRAINT debits_one_per_cycle DO UPDATE SET tried_at = excluded.tried_at
WHERE debits.gateway_payment_id IS NULL AND debits.tried_at <= @before
RETURNING *;

-- name: DebitGet :one
SELECT * FROM subscriptions.debits WHERE subscription_id = @subscription_id AND cycle = @cycle;

-- name: DebitGetByPayment :one
SELECT * FROM subscriptions.debits WHERE gateway_payment_id = @gateway_payment_id;

-- name: DebitHasLaterFailed :one
-- Whether a debit of a later cycle failed and is not paid.
SELECT EXISTS (
    SELECT 1 FROM subscriptions.debits d
    WHERE d.subscription_id = @subscription_id AND d.cycle > @cycle AND d.failed_at IS NOT NULL AND d.paid_at IS NULL
      AND d.failure IS DISTINCT FROM @passed_over);

-- name: DebitHasAwaited :one
-- Whether the order of a debit is not answered yet, so that its payment is not known.
SELECT EXISTS (
    SELECT 1 FROM subscriptions.debits WHERE subscription_id = @subscription_id AND gateway_payment_id IS NULL AND failed_at IS NULL);

-- name: DebitHasOpenWithin :one
-- Whether another debit that has not failed pays a period in which the cycle begins.
SELECT EXISTS (
    SELECT 1 FROM subscriptions.debits d
    WHERE d.subscription_id = @subscription_id AND d.cycle < @cycle AND d.cycle + make_interval(months => @months::int) > @cycle
      AND d.failed_at IS NULL);

-- name: DebitSetPaid :exec
UPDATE subscriptions.debits SET paid_at = @now WHERE subscription_id = @subscription_id AND cycle = @cycle AND paid_at IS NULL;

-- name: DebitSetFailed :exec
-- Not of a debit that was ordered since the caller read it.
UPDATE subscriptions.debits SET failed_at = coalesce(failed_at, @now), failure = @failure, retryable = @retryable
WHERE subscription_id = @subscription_id AND cycle = @cycle AND gateway_payment_id IS NOT DISTINCT FROM sqlc.narg(gateway_payment_id);

-- name: DebitSetOrdered :exec
UPDATE subscriptions.debits SET gateway_payment_id = @gateway_payment_id, ordered_at = @now, due_date = @due_date
WHERE subscription_id = @subscription_id AND cycle = @cycle AND gateway_payment_id IS NULL;

-- name: DebitForget :exec
-- A debit that was removed at the gateway while collection was paused, or never made:
-- its cycle can be ordered again.
DELETE FROM subscriptions.debits
WHERE subscription_id = @subscription_id AND cycle = @cycle AND gateway_payment_id IS NOT DISTINCT FROM sqlc.narg(gateway_payment_id);

-- name: DebitListSince :many
SELECT * FROM subscriptions.debits WHERE subscription_id = @subscription_id AND due_date >= @since ORDER BY cycle;

-- name: DebitGetFailed :one
-- The newest debit that failed and is not paid, but one that was passed over.
SELECT * FROM subscriptions.debits
WHERE subscription_id = @subscription_id AND failed_at IS NOT NULL AND paid_at IS NULL AND gateway_payment_id IS NOT NULL
  AND failure IS DISTINCT FROM @passed_over
ORDER BY cycle DESC LIMIT 1;

-- name: DebitListUnpaid :many
-- The debits that failed, or were given up, since the last one that was paid.
SELECT * FROM subscriptions.debits d
WHERE d.subscription_id = @subscription_id AND d.failed_at IS NOT NULL AND d.paid_at IS NULL
  AND NOT EXISTS (
    SELECT 1 FROM subscriptions.debits later WHERE later.subscription_id = d.subscription_id AND later.cycle > d.cycle AND later.paid_at IS NOT NULL)
ORDER BY d.cycle;
