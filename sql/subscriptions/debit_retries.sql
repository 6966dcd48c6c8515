-- name: DebitRetryClaim :execrows
-- Takes a planned retry for one try, unless somebody has just set about it or another
-- one of the cycle is still with the bank.
UPDATE subscriptions.debit_retries r SET tried_at = @now
WHERE r.subscription_id = @subscription_id AND r.cycle = @cycle AND r.retry_date = @retry_date AND r.state = 'planned'
  AND (r.tried_at IS NULL OR r.tried_at <= @before)
  AND NOT EXISTS (SELECT 1 FROM subscriptions.debit_retries o WHERE o.subscription_id = r.subscription_id AND o.cycle = r.cycle AND o.state = 'ordered');

-- name: DebitRetryEnd :exec
-- Ends what of a cycle's retries, or of one day's, is in one of the states: each becomes what stands beside its own.
WITH moved AS (
    UPDATE subscriptions.debit_retries r SET state = m.to_state, reason = @reason, ended_at = @now
    FROM (SELECT unnest(@from_states::text[]) AS from_state, unnest(@to_states::text[]) AS to_state) m
    WHERE r.subscription_id = @subscription_id AND r.cycle = @cycle AND r.state = m.from_state
      AND (sqlc.narg(retry_date)::date IS NULL OR r.retry_date = sqlc.narg(retry_date)::date)
    RETURNING r.subscription_id, r.cycle, r.retry_date, m.from_state, r.state, r.reason
)
INSERT INTO subscriptions.order_transitions (subscription_id, kind, item, at, from_state, to_state, action, reason)
SELECT subscription_id, 'debit_retry', to_char(cycle, 'YYYY-MM-DD/') || to_char(retry_date, 'YYYY-MM-DD'), @now, from_state, state, @action, nullif(reason, '')
FROM moved;

-- name: DebitRetryInsert :exec
WITH made AS (
    INSERT INTO subscriptions.debit_retries (subscription_id, cycle, retry_date, state, reason, ended_at, register_date)
    VALUES (@subscription_id, @cycle, @retry_date, @state, @reason, @ended_at, @now)
    ON CONFLICT ON CONSTRAINT debit_retries_one_a_day DO NOTHING
    RETURNING subscription_id, cycle, retry_date, state
)
INSERT INTO subscriptions.order_transitions (subscription_id, kind, item, at, to_state, action, reason)
SELECT subscription_id, 'debit_retry', to_char(cycle, 'YYYY-MM-DD/') || to_char(retry_date, 'YYYY-MM-DD'), @now, state, @action, @why
FROM made;

-- name: DebitRetryList :many
SELECT * FROM subscriptions.debit_retries WHERE subscription_id = @subscription_id AND cycle = @cycle ORDER BY retry_date;

-- name: DebitRetryListDue :many
-- Cycles whose next retry is to be ordered until the date, and that nobody has set
-- about since the instant: first the retry's own job repeats.
SELECT DISTINCT subscription_id, cycle FROM subscriptions.debit_retries
WHERE state = 'planned' AND retry_date <= @until AND (tried_at IS NULL OR tried_at <= @since) AND register_date <= @since
LIMIT 500;

-- name: DebitRetrySetOrdered :exec
WITH moved AS (
    UPDATE subscriptions.debit_retries r SET state = @state, order_id = @order_id, ordered_at = @now
    WHERE r.subscription_id = @subscription_id AND r.cycle = @cycle AND r.retry_date = @retry_date AND r.state = @from_state
    RETURNING r.subscription_id, r.cycle, r.retry_date, r.state
)
INSERT INTO subscriptions.order_transitions (subscription_id, kind, item, at, from_state, to_state, action, reason)
SELECT was.subscription_id, 'debit_retry', to_char(was.cycle, 'YYYY-MM-DD/') || to_char(was.retry_date, 'YYYY-MM-DD'), @now, was.state, moved.state, @action, @why
FROM moved JOIN subscriptions.debit_retries was
    ON was.subscription_id = moved.subscription_id AND was.cycle = moved.cycle AND was.retry_date = moved.retry_date;
