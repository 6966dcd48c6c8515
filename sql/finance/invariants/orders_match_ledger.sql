-- An order that counts as paid has been paid in full, and no money was kept for one that does not.
SELECT o.id AS id, o.state || ', price ' || o.total_cents || ', paid ' || coalesce(p.cents, 0) || ', given back or asked for ' || coalesce(r.cents, 0) || ' cents' AS detail
FROM tickets.orders o
LEFT JOIN (SELECT local_id, sum(amount_cents) AS cents FROM payments.payments WHERE purpose = 'order' GROUP BY local_id) p ON p.local_id = o.id
LEFT JOIN (SELECT local_id, sum(amount_cents) AS cents FROM payments.refunds WHERE purpose = 'order' AND status <> 'failed' GROUP BY local_id) r ON r.local_id = o.id
WHERE o.total_cents > 0 AND CASE
    WHEN o.state IN ('paid', 'refund_due') THEN coalesce(p.cents, 0) < o.total_cents
    WHEN o.state = 'refunded' THEN coalesce(p.cents, 0) < o.total_cents OR coalesce(r.cents, 0) < o.total_cents
    ELSE coalesce(p.cents, 0) > coalesce(r.cents, 0) END
