-- name: OrderTotals :one
-- Each of the three maps is over all orders.
SELECT json_build_object(
    'total_orders', (SELECT count(*) FROM finance.orders),
    'total_revenue', (p.revenue / 100.0)::numeric(20, 2),
    'by_status', (SELECT coalesce(json_object_agg(k.name, json_build_object('count', k.orders, 'total_amount', k.amount)), '{}') FROM (
        SELECT payment_status AS name, count(*) AS orders, (sum(total_cents) / 100.0)::numeric(20, 2) AS amount
        FROM finance.orders GROUP BY 1 ORDER BY 1) k),
    'by_gateway', (SELECT coalesce(json_object_agg(k.name, json_build_object('count', k.orders, 'total_amount', k.amount)), '{}') FROM (
        SELECT coalesce(gateway, 'free') AS name, count(*) AS orders, (sum(total_cents) / 100.0)::numeric(20, 2) AS amount
        FROM finance.orders GROUP BY 1 ORDER BY 1) k),
    'by_payment_method', (SELECT coalesce(json_object_agg(k.name, json_build_object('count', k.orders, 'total_amount', k.amount)), '{}') FROM (
        SELECT coalesce(payment_method, 'unknown') AS name, count(*) AS orders, (sum(total_cents) / 100.0)::numeric(20, 2) AS amount
        FROM finance.orders GROUP BY 1 ORDER BY 1) k),
    'avg_order_value', coalesce(round(p.revenue / 100.0 / nullif(p.orders, 0), 2), 0),
    'avg_tickets_per_order', coalesce(round(p.tickets / nullif(p.orders, 0)::numeric, 2), 0)
)::json AS report
FROM (
    SELECT count(*) AS orders, coalesce(sum(total_cents), 0)::bigint AS revenue, coalesce(sum(quantity), 0)::bigint AS tickets
    FROM finance.orders WHERE is_paid
) p;
