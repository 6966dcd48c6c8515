-- What was given back of a payment, a subscription or an order, or is asked for, is no more than what was paid for it.
-- A request counts with what was there before it: what its gateway gives back of itself while nobody knows what became
-- of the request leaves that one standing, and it comes to nothing, or fits.
SELECT m.gateway || ' ' || m.gateway_payment_id AS id, 'given back ' || max(m.cents) || ' of ' || m.paid || ' cents' AS detail
FROM (
    SELECT f.id, f.gateway, f.gateway_payment_id, f.paid,
        CASE WHEN f.status = 'requested' THEN sum(f.cents) OVER (PARTITION BY f.id ORDER BY f.created_at, f.refund_id)
            ELSE sum(f.cents) FILTER (WHERE f.status <> 'requested') OVER (PARTITION BY f.id) END AS cents
    FROM (
        -- Each by its index, where an OR would compare every refund with every payment; a refund that both find counts once.
        SELECT p.id, p.gateway, p.gateway_payment_id, p.amount_cents AS paid, r.id AS refund_id, r.amount_cents AS cents, r.status, r.created_at
        FROM payments.refunds r JOIN payments.payments p ON p.gateway = r.gateway AND p.gateway_payment_id = r.payment_ref WHERE r.status <> 'failed'
        UNION
        SELECT p.id, p.gateway, p.gateway_payment_id, p.amount_cents, r.id, r.amount_cents, r.status, r.created_at
        FROM payments.refunds r JOIN payments.payments p ON p.gateway = r.gateway AND p.payment_intent_id = r.payment_ref WHERE r.status <> 'failed'
    ) f
) m
WHERE m.cents > m.paid
GROUP BY m.id, m.gateway, m.gateway_payment_id, m.paid
UNION ALL
SELECT r.local_id, r.purpose || ', given back ' || max(r.cents) || ' of ' || coalesce(p.cents, 0) || ' cents'
FROM (
    SELECT purpose, local_id,
        CASE WHEN status = 'requested' THEN sum(amount_cents) OVER (PARTITION BY purpose, local_id ORDER BY created_at, id)
            ELSE sum(amount_cents) FILTER (WHERE status <> 'requested') OVER (PARTITION BY purpose, local_id) END AS cents
    FROM payments.refunds WHERE status <> 'failed' AND kind <> 'by_hand' -- of which no payment tells
) r
LEFT JOIN LATERAL (SELECT sum(k.amount_cents) AS cents FROM payments.payments k WHERE k.purpose = r.purpose AND k.local_id = r.local_id) p ON true
WHERE r.cents > coalesce(p.cents, 0)
GROUP BY r.purpose, r.local_id, p.cents
