-- What was paid for a period that began after its subscription had ended by a lost dispute of another payment is given back, disputed or on the list of unapplied payments.
SELECT p.id AS id, p.gateway || ' ' || p.gateway_payment_id || ' of ' || p.amount_cents || ' cents for subscription ' || s.id || ', from ' || k.begins AS detail
FROM subscriptions.subscriptions s
JOIN payments.payments p ON p.purpose = 'subscription' AND p.local_id = s.id
LEFT JOIN subscriptions.renewal_charges c ON c.gateway = p.gateway AND c.gateway_payment_id = p.gateway_payment_id
LEFT JOIN subscriptions.debits b ON b.gateway_payment_id = p.gateway_payment_id
CROSS JOIN LATERAL (SELECT coalesce(c.moved_from, b.cycle::timestamptz, CASE WHEN p.method <> 'pix' THEN p.due_at END) AS begins) k
WHERE s.status IN ('cancelled', 'expired') AND k.begins > s.ended_at
    AND EXISTS (SELECT FROM subscriptions.transitions t WHERE t.subscription_id = s.id AND t.to_status = 'cancelled' AND t.reason = 'chargeback' AND t.at = s.ended_at)
    AND NOT EXISTS (SELECT FROM payments.refunds r WHERE r.gateway = p.gateway AND r.payment_ref IN (p.gateway_payment_id, p.payment_intent_id) AND r.status <> 'failed')
    AND NOT EXISTS (SELECT FROM payments.disputes d WHERE d.state <> 'withdrawn' AND d.gateway = p.gateway AND d.payment_ref IN (p.gateway_payment_id, p.payment_intent_id))
    AND NOT EXISTS (SELECT FROM payments.unapplied_payments u WHERE u.gateway = p.gateway AND u.gateway_payment_id = p.gateway_payment_id)
