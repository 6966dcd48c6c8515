-- A card that was charged for time by which its subscription was extended gets the money back, or it stands on the list; and the gateway has been told of the extension.
SELECT p.id AS id, p.gateway || ' ' || p.gateway_payment_id || ' of subscription ' || p.local_id || ', settled ' || p.settled_at AS detail
FROM payments.payments p JOIN subscriptions.charge_moves m ON p.purpose = 'subscription' AND m.subscription_id = p.local_id
WHERE m.state IN ('open', 'done') AND p.method = 'credit_card'
    AND p.settled_at >= m.from_at AND p.settled_at < m.to_at AND p.created_at > m.register_date
    AND NOT EXISTS (SELECT FROM payments.refunds r WHERE r.gateway = p.gateway AND r.payment_ref IN (p.gateway_payment_id, p.payment_intent_id) AND r.status <> 'failed')
    AND NOT EXISTS (SELECT FROM payments.unapplied_payments u WHERE u.gateway = p.gateway AND u.gateway_payment_id = p.gateway_payment_id)
UNION ALL
SELECT m.id, 'extension of subscription ' || m.subscription_id || ' is not told since ' || m.register_date
FROM subscriptions.charge_moves m
WHERE m.state = 'open' AND m.next_try_at < $1::timestamptz - interval '30 minutes'
