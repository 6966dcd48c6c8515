-- The tickets of each order whose own payment is under an open dispute are blocked, no others are, and one whose dispute was lost is lost, or was refunded before.
SELECT o.id AS id, o.state || ', blocked since ' || coalesce(o.disputed_at::text, 'never') || ', disputes open ' || coalesce(d.open, 0) || ', lost ' || coalesce(d.lost, 0) AS detail
FROM tickets.orders o
LEFT JOIN (
    SELECT p.gateway, p.gateway_payment_id, p.local_id, count(*) FILTER (WHERE d.state = 'open') AS open, count(*) FILTER (WHERE d.state = 'lost') AS lost
    FROM payments.disputes d
    JOIN payments.payments p ON p.gateway = d.gateway AND p.purpose = 'order' AND p.local_id = d.local_id AND d.payment_ref IN (p.gateway_payment_id, p.payment_intent_id)
    WHERE d.purpose = 'order' GROUP BY p.gateway, p.gateway_payment_id, p.local_id
) d ON d.gateway = o.gateway AND d.gateway_payment_id = o.gateway_payment_id AND d.local_id = o.id
WHERE (o.disputed_at IS NOT NULL) <> (coalesce(d.open, 0) > 0)
   OR (o.state = 'lost') <> (coalesce(d.lost, 0) > 0) AND o.state IN ('paid', 'refund_due', 'lost')
   OR (o.state = 'lost') <> (o.payment_status = 'CHARGEBACK_LOST')
