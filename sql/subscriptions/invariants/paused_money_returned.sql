-- Money that settled while collection was paused, and was booked after it was ordered, is refunded, or stands on the list of unapplied payments.
SELECT p.id AS id, p.gateway || ' ' || p.gateway_payment_id || ' of subscription ' || p.local_id || ', settled ' || p.settled_at AS detail
FROM payments.payments p JOIN subscriptions.pauses s ON p.purpose = 'subscription' AND s.subscription_id = p.local_id
WHERE p.settled_at > s.since AND p.settled_at < coalesce(s.until, s.ended_at, 'infinity') AND p.created_at > s.register_date
    AND NOT EXISTS (SELECT FROM payments.refunds r WHERE r.gateway = p.gateway AND r.payment_ref IN (p.gateway_payment_id, p.payment_intent_id) AND r.status <> 'failed')
    AND NOT EXISTS (SELECT FROM payments.unapplied_payments u WHERE u.gateway = p.gateway AND u.gateway_payment_id = p.gateway_payment_id)
    AND NOT EXISTS (SELECT FROM payments.disputes d WHERE d.state <> 'withdrawn' AND d.gateway = p.gateway AND d.payment_ref IN (p.gateway_payment_id, p.payment_intent_id))
