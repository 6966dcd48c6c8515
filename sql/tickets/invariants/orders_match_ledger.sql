-- An order that counts as paid has been paid in full, at a gateway or the box office, and no money was kept for one that does not, or beside it, that is not on the list of unapplied payments.
SELECT o.id AS id, o.state || ', price ' || o.total_cents || ', paid ' || coalesce(p.cents, 0) || ', given back or asked for ' || coalesce(r.cents, 0)
    || ', listed ' || coalesce(u.cents, 0) || ' cents' AS detail
FROM tickets.orders o
LEFT JOIN LATERAL (SELECT CASE WHEN o.sold_by_id IS NULL
    THEN (SELECT sum(l.amount_cents) FROM payments.payments l WHERE l.purpose = 'order' AND l.local_id = o.id) ELSE o.total_cents END AS cents) p ON true
LEFT JOIN (SELECT local_id, sum(amount_cents) AS cents FROM payments.refunds WHERE purpose = 'order' AND status <> 'failed' GROUP BY local_id) r ON r.local_id = o.id
LEFT JOIN (
    SELECT l.local_id, sum(l.amount_cents) FILTER (WHERE w.gateway_payment_id IS DISTINCT FROM l.gateway_payment_id OR u.state = 'kept'
        OR w.state = 'released' AND l.amount_cents <> w.total_cents) AS cents -- its charge was paid by another amount
    FROM payments.unapplied_payments u
    JOIN payments.payments l ON l.gateway = u.gateway AND l.gateway_payment_id = u.gateway_payment_id AND l.purpose = 'order'
    JOIN tickets.orders w ON w.id = l.local_id
    WHERE u.state IN ('open', 'kept') GROUP BY l.local_id
) u ON u.local_id = o.id
WHERE o.total_cents > 0 AND CASE
    WHEN o.state IN ('paid', 'refund_due', 'lost') THEN coalesce(p.cents, 0) < o.total_cents OR coalesce(p.cents, 0) - coalesce(r.cents, 0) - coalesce(u.cents, 0) > o.total_cents
    WHEN o.state = 'refunded' THEN coalesce(p.cents, 0) < o.total_cents OR coalesce(r.cents, 0) < o.total_cents
        OR coalesce(p.cents, 0) - coalesce(r.cents, 0) - coalesce(u.cents, 0) > 0
    ELSE coalesce(p.cents, 0) > coalesce(r.cents, 0) + coalesce(u.cents, 0) END
