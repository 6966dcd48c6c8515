-- What was paid for a subscription opened it or paid one of its periods, or is given back or on the list of unapplied payments.
SELECT p.id AS id, p.gateway || ' ' || p.gateway_payment_id || ' of ' || p.amount_cents || ' cents gave subscription ' || p.local_id || ' nothing' AS detail
FROM payments.payments p
LEFT JOIN (
    SELECT gateway, payment_ref, sum(amount_cents) AS cents FROM payments.refunds WHERE status = 'done' GROUP BY gateway, payment_ref
) r ON r.gateway = p.gateway AND r.payment_ref = coalesce(p.payment_intent_id, p.gateway_payment_id)
WHERE p.purpose = 'subscription' AND NOT p.counted AND p.amount_cents > coalesce(r.cents, 0)
  AND NOT EXISTS (SELECT FROM payments.unapplied_payments u WHERE u.gateway = p.gateway AND u.gateway_payment_id = p.gateway_payment_id)
