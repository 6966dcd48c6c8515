-- name: OrderTotalsGet :one
-- Each of the three maps is over all orders, which are read once: their totals minus what went back of them.
WITH kinds AS MATERIALIZED (
    SELECT o.payment_status, CASE WHEN o.is_box_office THEN 'box_office' ELSE coalesce(o.gateway, 'free') END AS gateway, coalesce(o.payment_method, 'unknown') AS payment_method, o.is_paid,
        count(*) AS orders, sum(CASE WHEN o.payment_status = 'CHARGEBACK_LOST' THEN 0 ELSE greatest(o.total_cents - o.refunded_cents, 0) END)::bigint AS cents, sum(o.revenue_cents)::bigint AS revenue, sum(o.quantity)::bigint AS tickets
    FROM finance.orders o GROUP BY 1, 2, 3, 4
)
SELECT json_build_object(
    'total_orders', p.all_orders,
    'total_revenue', (p.revenue / 100.0)::numeric(20, 2),
    'by_status', (SELECT coalesce(json_object_agg(k.name, json_build_object('count', k.orders, 'total_amount', k.amount)), '{}') FROM (
        SELECT payment_status AS name, sum(orders)::bigint AS orders, (sum(cents) / 100.0)::numeric(20, 2) AS amount FROM kinds GROUP BY 1 ORDER BY 1) k),
    'by_gateway', (SELECT coalesce(json_object_agg(k.name, json_build_object('count', k.orders, 'total_amount', k.amount)), '{}') FROM (
        SELECT gateway AS name, sum(orders)::bigint AS orders, (sum(cents) / 100.0)::numeric(20, 2) AS amount FROM kinds GROUP BY 1 ORDER BY 1) k),
    'by_payment_method', (SELECT coalesce(json_object_agg(k.name, json_build_object('count', k.orders, 'total_amount', k.amount)), '{}') FROM (
        SELECT payment_method AS name, sum(orders)::bigint AS orders, (sum(cents) / 100.0)::numeric(20, 2) AS amount FROM kinds GROUP BY 1 ORDER BY 1) k),
    'avg_order_value', coalesce(round(p.revenue / 100.0 / nullif(p.orders, 0), 2), 0),
    'avg_tickets_per_order', coalesce(round(p.tickets / nullif(p.orders, 0)::numeric, 2), 0)
)::json AS report
FROM (
    SELECT coalesce(sum(orders), 0)::bigint AS all_orders, coalesce(sum(orders) FILTER (WHERE is_paid), 0)::bigint AS orders,
        coalesce(sum(revenue), 0)::bigint AS revenue, coalesce(sum(tickets) FILTER (WHERE is_paid), 0)::bigint AS tickets
    FROM kinds
) p;
