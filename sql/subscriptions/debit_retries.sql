-- name: DebitRetryClaim :execrows
-- Takes a planned retry for one try, unless somebody has just set about it or another
-- one of the cycle is still with the bank.
UPDATE subscriptions.debit_retries r SET tried_at = @now
WHERE r.subscription_id = @subscription_id AND r.cycle = @cycle AND r.retry_date = @retry_date AND r.state = 'planned'
  AND (r.tried_at IS NULL OR r.tried_at <= @before)
  AND NOT EXISTS (SELECT 1 FROM subscriptions.debit_retries o WHERE o.subscription_id = r.subscription_id AND o.cycle = r.cycle AND o.state = 'ordered');

-- name: DebitRetryEnd :exec
-- Ends what of a cycle's retries, or of one day's, is in one of the states: each becomes what stands beside its own.
UPDATE subscriptions.debit_retries r SET state = m.to_state, reason = @reason, ended_at = @now
FROM (SELECT unnest(@from_states::text[]) AS from_state, unnest(@to_states::text[]) AS to_state) m
WHERE r.subscription_id = @subscription_id AND r.cycle = @cycle AND r.state = m.from_state
  AND (sqlc.narg(retry_date)::date IS NULL OR r.retry_date = sqlc.narg(retry_date)::date);

-- name: DebitRetryInsert :exec
INSERT INTO subscriptions.debit_retries (subscription_id, cycle, retry_date, state, reason, ended_at, register_date)
VALUES (@subscription_id, @cycle, @retry_date, @state, @reason, @ended_at, @now)
ON CONFLICT ON CONSTRAINT debit_retries_one_a_day DO NOTHING;

-- name: DebitRetryList :many
SELECT * FROM subscriptions.debit_retries WHERE subscription_id = @subscription_id AND cycle = @cycle ORDER BY retry_date;

-- name: DebitRetryListDue :many
-- Cycles whose next retry is to be ordered until the date, and that nobody has set
-- about since the instant: first the retry's own job repeats.
SELECT DISTINCT subscription_id, cycle FROM subscriptions.debit_retries
WHERE state = 'planned' AND retry_date <= @until AND (tried_at IS NULL OR tried_at <= @since) AND register_date <= @since
LIMIT 500;

-- name: DebitRetrySetOrdered :exec
UPDATE subscriptions.debit_retries SET state = @state, order_id = @order_id, ordered_at = @now
WHERE subscription_id = @subscription_id AND cycle = @cycle AND retry_date = @retry_date AND state = @from_state;
