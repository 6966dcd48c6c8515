-- What was paid for a subscription that its customer has withdrawn from is given back, on its way, or on the list of unapplied payments.
SELECT p.local_id AS id, p.gateway || ' ' || p.gateway_payment_id || ', given back ' || coalesce(r.cents, 0) || ' of ' || p.amount_cents || ' cents' AS detail
FROM subscriptions.transitions t
JOIN payments.payments p ON p.purpose = 'subscription' AND p.local_id = t.subscription_id
LEFT JOIN LATERAL (SELECT sum(k.amount_cents) AS cents FROM payments.refunds k
    WHERE k.gateway = p.gateway AND k.payment_ref IN (p.gateway_payment_id, p.payment_intent_id) AND k.status <> 'failed') r ON true
WHERE t.reason = 'withdrawn' AND t.at < $1::timestamptz - interval '1 hour' AND coalesce(r.cents, 0) < p.amount_cents
    AND NOT EXISTS (SELECT 1 FROM payments.disputes d WHERE d.gateway = p.gateway AND d.payment_ref IN (p.gateway_payment_id, p.payment_intent_id))
    AND NOT EXISTS (SELECT 1 FROM payments.unapplied_payments u WHERE u.gateway = p.gateway AND u.gateway_payment_id = p.gateway_payment_id)
