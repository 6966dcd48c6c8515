-- No period of an automatic PIX is debited twice.
SELECT a.subscription_id AS id, 'debits of ' || a.cycle || ' and ' || b.cycle || ', payments ' || a.gateway_payment_id || ' and ' || b.gateway_payment_id AS detail
FROM subscriptions.debits a
JOIN subscriptions.debits b ON b.subscription_id = a.subscription_id AND b.cycle > a.cycle
JOIN subscriptions.subscriptions s ON s.id = a.subscription_id
WHERE b.cycle < a.cycle + make_interval(months => s.period_months)
  AND a.gateway_payment_id IS NOT NULL AND (a.failed_at IS NULL OR a.paid_at IS NOT NULL)
  AND b.gateway_payment_id IS NOT NULL AND (b.failed_at IS NULL OR b.paid_at IS NOT NULL)
