-- No period of an automatic PIX is debited twice: neither by two debits, nor by money that no debit is known of.
SELECT a.subscription_id AS id, 'debits of ' || a.cycle || ' and ' || b.cycle || ', payments ' || a.gateway_payment_id || ' and ' || b.gateway_payment_id AS detail
FROM subscriptions.debits a
JOIN subscriptions.debits b ON b.subscription_id = a.subscription_id AND b.cycle > a.cycle
JOIN subscriptions.subscriptions s ON s.id = a.subscription_id
WHERE b.cycle < a.cycle + make_interval(months => s.period_months)
  AND a.gateway_payment_id IS NOT NULL AND (a.failed_at IS NULL OR a.paid_at IS NOT NULL)
  AND b.gateway_payment_id IS NOT NULL AND (b.failed_at IS NULL OR b.paid_at IS NOT NULL)
UNION ALL
-- The first code is a payment without a debit; it is the only one.
SELECT s.id, 'payments ' || string_agg(p.gateway_payment_id, ' and ' ORDER BY p.settled_at) || ' are of no debit'
FROM subscriptions.subscriptions s
JOIN payments.payments p ON p.purpose = 'subscription' AND p.local_id = s.id AND p.gateway = s.gateway
WHERE s.pix_automatic AND p.created_at < $1::timestamptz - interval '1 day'
  AND NOT EXISTS (SELECT 1 FROM subscriptions.debits d WHERE d.gateway_payment_id = p.gateway_payment_id)
  AND NOT EXISTS (SELECT 1 FROM payments.unapplied_payments u WHERE u.gateway = p.gateway AND u.gateway_payment_id = p.gateway_payment_id)
GROUP BY s.id HAVING count(*) > 1
