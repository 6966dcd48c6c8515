-- No ticket is good, or holds a place unused, whose share of the money is given back or was taken by a dispute, and each that waits for a refund waits for one that is under way, 15 minutes after the refund is known.
SELECT t.id AS id, t.status || ', refund ' || t.refund_id || ' is ' || coalesce(r.status, 'not in the ledger') AS detail
FROM tickets.tickets t
LEFT JOIN payments.refunds r ON r.id = t.refund_id AND r.purpose = 'order' AND r.local_id = t.order_id
WHERE t.refund_id IS NOT NULL AND (r.id IS NULL
    OR t.refunded_at IS NOT NULL AND (t.status IN ('pending', 'available') OR t.status = 'expired' AND t.holds_place)
    OR r.updated_at < $1::timestamptz - interval '15 minutes' AND (r.status = 'failed' OR r.status = 'done' AND t.refunded_at IS NULL))
UNION ALL
SELECT t.id, t.status || CASE WHEN t.holds_place THEN ' with its place' ELSE '' END || ', its order is ' || o.state
FROM tickets.tickets t JOIN tickets.orders o ON o.id = t.order_id
WHERE o.state IN ('refunded', 'refund_due', 'lost') AND (t.status IN ('pending', 'available') OR t.status = 'expired' AND t.holds_place)
