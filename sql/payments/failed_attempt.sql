-- name: FailedAttemptInsert :execrows
INSERT INTO payments.failed_attempts (id, gateway, gateway_payment_id, attempt, purpose, local_id, amount_cents, failed_at, created_at)
VALUES (@id, @gateway, @gateway_payment_id, @attempt, @purpose, @local_id, @amount_cents, @failed_at, @at)
ON CONFLICT DO NOTHING;

-- name: FailedAttemptInsertUnnumbered :execrows
-- FailedAttemptInsertUnnumbered counts a failure whose number is not told,
-- unless any attempt at the payment is known to have failed.
INSERT INTO payments.failed_attempts (id, gateway, gateway_payment_id, attempt, purpose, local_id, amount_cents, failed_at, created_at)
SELECT @id, @gateway, @gateway_payment_id, 0, @purpose, @local_id, @amount_cents, @failed_at, @at
WHERE NOT EXISTS (
    SELECT 1 FROM payments.failed_attempts f
    WHERE f.gateway = @gateway AND f.gateway_payment_id = @gateway_payment_id
)
ON CONFLICT DO NOTHING;

-- name: FailedAttemptGetLast :one
SELECT * FROM payments.failed_attempts WHERE purpose = @purpose AND local_id = @local_id ORDER BY failed_at DESC LIMIT 1;

-- name: FailedAttemptLock :exec
-- FailedAttemptLock lets the reports about one payment pass one after the other
-- until the transaction ends.
SELECT pg_advisory_xact_lock(hashtextextended('payments.failed_attempts/' || sqlc.arg(gateway)::text || '/' || sqlc.arg(gateway_payment_id)::text, 0));

-- name: FailedAttemptSetNumber :execrows
-- FailedAttemptSetNumber gives a failure that was counted without its number the
-- number, unless that number is counted already.
UPDATE payments.failed_attempts f SET attempt = @attempt
WHERE f.gateway = @gateway AND f.gateway_payment_id = @gateway_payment_id AND f.attempt = 0
  AND NOT EXISTS (
    SELECT 1 FROM payments.failed_attempts g
    WHERE g.gateway = @gateway AND g.gateway_payment_id = @gateway_payment_id AND g.attempt = @attempt
);
