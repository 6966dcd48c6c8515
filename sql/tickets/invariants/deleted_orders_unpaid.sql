-- Money of an order that was deleted with its event is given back or on the list of unapplied payments.
SELECT p.id AS id, p.gateway || ' ' || p.gateway_payment_id || ' of ' || p.amount_cents || ' cents for order ' || d.id AS detail
FROM tickets.deleted_orders d
JOIN payments.payments p ON p.purpose = 'order' AND p.local_id = d.id
WHERE NOT EXISTS (SELECT 1 FROM payments.unapplied_payments u WHERE u.gateway = p.gateway AND u.gateway_payment_id = p.gateway_payment_id)
  AND p.amount_cents > (SELECT coalesce(sum(r.amount_cents), 0) FROM payments.refunds r
    WHERE r.gateway = p.gateway AND r.payment_ref = coalesce(p.payment_intent_id, p.gateway_payment_id) AND r.status <> 'failed')
