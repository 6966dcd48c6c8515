-- Each order that is to be given back as a whole, by its buyer or since its event is called off, is refunded, on its way, with the payer's bank or on the list of unapplied payments a day later, and each paid order of a called off event is among them.
SELECT o.id AS id, o.state || ', to be given back since ' || g.asked_at || CASE WHEN g.refund_id IS NULL THEN ': no refund is asked for' ELSE ': refund ' || g.refund_id || ' is ' || coalesce(r.status, 'not in the ledger') END AS detail
FROM tickets.give_backs g
JOIN tickets.orders o ON o.id = g.order_id
LEFT JOIN payments.refunds r ON r.id = g.refund_id AND r.purpose = 'order' AND r.local_id = g.order_id
WHERE g.asked_at < $1::timestamptz - interval '1 day' AND o.state = 'paid' AND o.disputed_at IS NULL AND coalesce(r.status NOT IN ('requested', 'pending'), true)
  AND NOT EXISTS (SELECT FROM payments.unapplied_payments u WHERE u.gateway = o.gateway AND u.gateway_payment_id = o.gateway_payment_id)
UNION ALL
SELECT o.id, o.state || ', event ' || e.id || ' is called off: not listed to be given back'
FROM tickets.events e JOIN tickets.orders o ON o.event_id = e.id
WHERE e.cancelled_at IS NOT NULL AND o.state = 'paid' AND o.total_cents > 0 AND NOT EXISTS (SELECT FROM tickets.give_backs g WHERE g.order_id = o.id)
