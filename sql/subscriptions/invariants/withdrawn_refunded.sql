-- What was paid for a subscription that its customer has withdrawn from, or for those that it renewed, is given back, on its way, or on the list of unapplied payments.
WITH RECURSIVE withdrawn AS (
    SELECT t.subscription_id AS id, t.at FROM subscriptions.transitions t WHERE t.reason = 'withdrawn'
    UNION
    SELECT s.renews_id, w.at FROM withdrawn w JOIN subscriptions.subscriptions s ON s.id = w.id WHERE s.renews_id IS NOT NULL
)
SELECT p.local_id AS id, p.gateway || ' ' || p.gateway_payment_id || ', given back ' || coalesce(r.cents, 0) || ' of ' || p.amount_cents || ' cents' AS detail
FROM withdrawn w
JOIN payments.payments p ON p.purpose = 'subscription' AND p.local_id = w.id
LEFT JOIN LATERAL (SELECT sum(k.amount_cents) AS cents FROM payments.refunds k
    WHERE k.gateway = p.gateway AND k.payment_ref IN (p.gateway_payment_id, p.payment_intent_id) AND k.status <> 'failed') r ON true
WHERE w.at < $1::timestamptz - interval '1 hour' AND coalesce(r.cents, 0) < p.amount_cents
    AND NOT EXISTS (SELECT 1 FROM payments.disputes d WHERE d.state <> 'withdrawn' AND d.gateway = p.gateway AND d.payment_ref IN (p.gateway_payment_id, p.payment_intent_id))
    AND NOT EXISTS (SELECT 1 FROM payments.unapplied_payments u WHERE u.gateway = p.gateway AND u.gateway_payment_id = p.gateway_payment_id)
