-- What was handed back of each order of the box office is the price of its tickets that were given back, at most what it cost, and nothing was of any other.
SELECT o.id AS id, o.payment_method || ' of ' || o.total_cents || ' cents, handed back ' || coalesce(r.cents, 0) || ' cents by ' || coalesce(r.refunds, 0)
    || ' refunds, for ' || coalesce(t.returned, 0) || ' tickets' AS detail
FROM tickets.orders o
LEFT JOIN (SELECT local_id, count(*) AS refunds, sum(amount_cents) AS cents FROM payments.refunds WHERE kind = 'by_hand' GROUP BY local_id) r ON r.local_id = o.id
LEFT JOIN (SELECT order_id, count(*) FILTER (WHERE refunded_at IS NOT NULL) AS returned FROM tickets.tickets GROUP BY order_id) t ON t.order_id = o.id
WHERE o.sold_by_id IS NULL AND r.refunds > 0
   OR o.sold_by_id IS NOT NULL AND (coalesce(r.cents, 0) > o.total_cents OR coalesce(r.cents, 0) < o.unit_price_cents * coalesce(t.returned, 0)
        OR o.state = 'refunded' AND coalesce(r.cents, 0) < o.total_cents)
