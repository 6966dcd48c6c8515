-- A debit that was refused, and may be taken again, has its retries planned, and none of them passes by without being ordered.
SELECT d.subscription_id AS id, 'debit of ' || d.cycle || ', refused ' || d.failed_at || ' (' || coalesce(d.failure, '') || '), no retries' AS detail
FROM subscriptions.debits d JOIN subscriptions.subscriptions s ON s.id = d.subscription_id
WHERE d.retryable AND d.paid_at IS NULL AND s.status NOT IN ('cancelled', 'expired')
  AND NOT EXISTS (SELECT 1 FROM subscriptions.debit_retries r WHERE r.subscription_id = d.subscription_id AND r.cycle = d.cycle)
UNION ALL
SELECT r.subscription_id, 'retry of ' || r.cycle || ' on ' || r.retry_date || ' still planned'
FROM subscriptions.debit_retries r JOIN subscriptions.subscriptions s ON s.id = r.subscription_id
WHERE r.state = 'planned' AND r.retry_date < ($1::timestamptz - interval '1 day')::date AND s.status NOT IN ('cancelled', 'expired')
