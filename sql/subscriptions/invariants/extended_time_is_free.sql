-- A card that was charged for time by which its subscription was extended gets the money back, or it stands on the list; the gateway has been told of the extension, or it was taken back, with the payments that had paid for it.
SELECT p.id AS id, p.gateway || ' ' || p.gateway_payment_id || ' of subscription ' || p.local_id || ', settled ' || p.settled_at AS detail
FROM payments.payments p JOIN subscriptions.charge_moves m ON p.purpose = 'subscription' AND m.subscription_id = p.local_id
WHERE m.state IN ('open', 'done') AND p.method = 'credit_card'
    AND p.settled_at >= m.from_at AND p.settled_at < m.to_at AND p.created_at > m.register_date
    AND NOT EXISTS (SELECT FROM payments.refunds r WHERE r.gateway = p.gateway AND r.payment_ref IN (p.gateway_payment_id, p.payment_intent_id) AND r.status <> 'failed')
    AND NOT EXISTS (SELECT FROM payments.unapplied_payments u WHERE u.gateway = p.gateway AND u.gateway_payment_id = p.gateway_payment_id)
UNION ALL
SELECT m.id, 'extension of subscription ' || m.subscription_id || ' is not told since ' || m.register_date
FROM subscriptions.charge_moves m
WHERE m.state = 'open' AND m.register_date < $1::timestamptz - interval '30 minutes'
    AND NOT EXISTS (SELECT FROM payments.intents i WHERE i.subject_id = m.id AND i.kind = 'charge_move' AND i.state = 'open')
UNION ALL
SELECT m.id, 'extension of subscription ' || m.subscription_id || ' until ' || m.to_at || ' was refused by its gateway, and the subscription has it'
FROM subscriptions.charge_moves m JOIN subscriptions.subscriptions s ON s.id = m.subscription_id
WHERE m.state = 'refused' AND s.status IN ('active', 'suspended') AND s.gateway_deleted_at IS NULL AND s.gateway_end_open_since IS NULL
    AND s.expires_at BETWEEN m.to_at - interval '1 second' AND m.to_at + interval '1 second'
    AND NOT EXISTS (SELECT FROM subscriptions.charge_moves l WHERE l.subscription_id = m.subscription_id AND l.id > m.id)
UNION ALL
SELECT u.id, 'payment ' || u.gateway_payment_id || ' is noted as used up by an extension of subscription ' || m.subscription_id || ' that its gateway refused'
FROM subscriptions.charge_moves m JOIN payments.unapplied_payments u ON u.subscription_id = m.subscription_id AND u.state = 'extended'
JOIN subscriptions.subscriptions s ON s.id = m.subscription_id
JOIN payments.unapplied_decisions d ON d.unapplied_id = u.id AND d.to_state = 'extended' AND d.at BETWEEN m.register_date AND m.ended_at
WHERE m.state = 'refused' AND (m.refusal IS NOT NULL OR s.status IN ('active', 'suspended') AND s.gateway_deleted_at IS NULL AND s.gateway_end_open_since IS NULL)
    AND NOT EXISTS (SELECT FROM payments.unapplied_decisions l WHERE l.unapplied_id = u.id AND l.to_state = 'extended' AND l.at > m.ended_at)
