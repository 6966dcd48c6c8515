-- What was given back of a payment, a subscription or an order, or is asked for, is no more than what was paid for it.
SELECT m.gateway || ' ' || m.gateway_payment_id AS id, 'given back ' || sum(m.refunded_cents) || ' of ' || m.amount_cents || ' cents' AS detail
FROM (
    -- Each by its index, where an OR would compare every refund with every payment; a refund that both find counts once.
    SELECT p.id, p.gateway, p.gateway_payment_id, p.amount_cents, r.id AS refund_id, r.amount_cents AS refunded_cents
    FROM payments.refunds r JOIN payments.payments p ON p.gateway = r.gateway AND p.gateway_payment_id = r.payment_ref WHERE r.status <> 'failed'
    UNION
    SELECT p.id, p.gateway, p.gateway_payment_id, p.amount_cents, r.id, r.amount_cents
    FROM payments.refunds r JOIN payments.payments p ON p.gateway = r.gateway AND p.payment_intent_id = r.payment_ref WHERE r.status <> 'failed'
) m
GROUP BY m.id, m.gateway, m.gateway_payment_id, m.amount_cents HAVING sum(m.refunded_cents) > m.amount_cents
UNION ALL
SELECT r.local_id, r.purpose || ', given back ' || r.cents || ' of ' || coalesce(p.cents, 0) || ' cents'
FROM (SELECT purpose, local_id, sum(amount_cents) AS cents FROM payments.refunds WHERE status <> 'failed' GROUP BY purpose, local_id) r
LEFT JOIN LATERAL (SELECT sum(k.amount_cents) AS cents FROM payments.payments k WHERE k.purpose = r.purpose AND k.local_id = r.local_id) p ON true
WHERE r.cents > coalesce(p.cents, 0)
