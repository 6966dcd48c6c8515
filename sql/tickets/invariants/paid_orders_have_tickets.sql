-- Money of a paid order without any tickets is given back, on the list of unapplied payments, or of tickets that were there: of a customer deleted since, or deleted by people.
SELECT o.id AS id, 'paid ' || o.total_cents || ' cents at ' || coalesce(o.paid_at, o.created_at) || CASE WHEN d.customer_id IS NULL THEN ': no tickets'
    ELSE ', customer deleted at ' || d.deleted_at || ': no tickets' END AS detail
FROM tickets.orders o
LEFT JOIN accounts.deletions d ON d.customer_id = o.customer_id
WHERE o.state = 'paid' AND o.total_cents > 0
  AND NOT EXISTS (SELECT FROM tickets.tickets t WHERE t.order_id = o.id)
  AND CASE WHEN d.customer_id IS NOT NULL THEN coalesce(o.paid_at, o.created_at) > d.deleted_at
    ELSE NOT EXISTS (SELECT FROM tickets.transitions t WHERE t.event_id = o.event_id AND t.to_status = 'deleted') END
  AND NOT EXISTS (SELECT FROM payments.unapplied_payments u WHERE u.gateway = o.gateway AND u.gateway_payment_id = o.gateway_payment_id)
  AND o.total_cents > (SELECT coalesce(sum(r.amount_cents), 0) FROM payments.refunds r WHERE r.purpose = 'order' AND r.local_id = o.id AND r.status <> 'failed')
