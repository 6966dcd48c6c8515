-- What was given back of a payment, a subscription or an order is no more than what was paid for it.
SELECT p.gateway || ' ' || p.gateway_payment_id AS id, 'given back ' || sum(r.amount_cents) || ' of ' || p.amount_cents || ' cents' AS detail
FROM payments.payments p JOIN payments.refunds r
    ON r.gateway = p.gateway AND r.status = 'done' AND (r.payment_ref = p.gateway_payment_id OR r.payment_ref = p.payment_intent_id)
GROUP BY p.id HAVING sum(r.amount_cents) > p.amount_cents
UNION ALL
SELECT r.local_id, r.purpose || ', given back ' || r.cents || ' of ' || coalesce(p.cents, 0) || ' cents'
FROM (SELECT purpose, local_id, sum(amount_cents) AS cents FROM payments.refunds WHERE status = 'done' GROUP BY purpose, local_id) r
LEFT JOIN (SELECT purpose, local_id, sum(amount_cents) AS cents FROM payments.payments GROUP BY purpose, local_id) p
    ON p.purpose = r.purpose AND p.local_id = r.local_id
WHERE r.cents > coalesce(p.cents, 0)
