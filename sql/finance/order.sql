-- name: OrderDetailGet :one
-- One ticket order with what belongs to it: its tickets, its money, and what happened to it, the newest first; each list
-- is read by an index and cut at the newest 500.
WITH ordered AS MATERIALIZED (
    SELECT o.*, r.sold_by, r.note, r.buyer_phone, r.hold_until, c.customer_id AS account_id,
        coalesce(c.full_name, k.name, '') AS buyer_name, coalesce(c.email, k.email, '') AS buyer_email
    FROM finance.orders o JOIN tickets.orders r ON r.id = o.order_id
    LEFT JOIN finance.customers_personal c ON c.customer_id = o.customer_id
    LEFT JOIN tickets.customers k ON k.id = o.customer_id
    WHERE o.order_id = @order_id
), held AS MATERIALIZED (
    SELECT t.* FROM ordered JOIN finance.tickets t ON t.order_id = ordered.order_id ORDER BY t.created_at DESC, t.ticket_id LIMIT 500
), paid AS MATERIALIZED (
    SELECT p.* FROM ordered JOIN payments.payments p ON p.purpose = 'order' AND p.local_id = ordered.order_id ORDER BY p.settled_at DESC, p.id LIMIT 500
), returned AS MATERIALIZED (
    SELECT r.* FROM ordered JOIN payments.refunds r ON r.purpose = 'order' AND r.local_id = ordered.order_id ORDER BY r.requested_at DESC, r.id LIMIT 500
), disputed AS MATERIALIZED (
    SELECT d.* FROM ordered JOIN payments.disputes d ON d.purpose = 'order' AND d.local_id = ordered.order_id ORDER BY d.opened_at DESC, d.id LIMIT 500
), moment AS (
    SELECT o.created_at AS at, 'order' AS type, 'Ordered ' || o.quantity || '.' AS summary,
        jsonb_build_object('quantity', o.quantity, 'amount', (o.total_cents / 100.0)::numeric(20, 2)) AS details, 0 AS step
    FROM ordered o
    UNION ALL
    SELECT p.settled_at, 'payment', 'Paid R$ ' || to_char(p.amount_cents / 100.0, 'FM999999999990.00') || ' by ' || replace(p.method, '_', ' ') || ' at ' || p.gateway || '.',
        jsonb_build_object('amount', (p.amount_cents / 100.0)::numeric(20, 2), 'gateway', p.gateway, 'payment_method', p.method), 1
    FROM paid p
    UNION ALL
    SELECT o.paid_at, 'payment', CASE WHEN o.total_cents = 0 THEN 'Given without a price.' ELSE 'Paid R$ ' || to_char(o.total_cents / 100.0, 'FM999999999990.00') || ' at the box office.' END,
        jsonb_build_object('amount', (o.total_cents / 100.0)::numeric(20, 2), 'payment_method', o.payment_method), 1
    FROM ordered o WHERE o.paid_at IS NOT NULL AND o.gateway IS NULL
    UNION ALL
    SELECT m.at, 'ticket', m.tickets || CASE m.tickets WHEN 1 THEN ' ticket' ELSE ' tickets' END || CASE WHEN m.from_status IS NULL THEN ' began as ' ELSE ' went from ' || m.from_status || ' to ' END
            || m.to_status || ' (' || replace(m.reason, '_', ' ') || ').',
        jsonb_build_object('quantity', m.tickets, 'from_status', m.from_status, 'to_status', m.to_status, 'reason', m.reason), 2
    FROM (
        SELECT x.at, x.from_status, x.to_status, x.reason, count(*) AS tickets
        FROM held JOIN tickets.transitions x ON x.ticket_id = held.ticket_id GROUP BY x.at, x.from_status, x.to_status, x.reason) m
    UNION ALL
    SELECT r.requested_at, 'refund', 'A refund of R$ ' || to_char(r.amount_cents / 100.0, 'FM999999999990.00') || ' was asked for.',
        jsonb_build_object('amount', (r.amount_cents / 100.0)::numeric(20, 2), 'gateway', r.gateway, 'refund_status', 'requested', 'reason', r.reason), 3
    FROM returned r WHERE r.kind = 'refund'
    UNION ALL
    SELECT coalesce(r.refunded_at, r.updated_at), 'refund',
        'A refund of R$ ' || to_char(r.amount_cents / 100.0, 'FM999999999990.00') || CASE r.status WHEN 'done' THEN ' was given back.' ELSE ' failed.' END,
        jsonb_build_object('amount', (r.amount_cents / 100.0)::numeric(20, 2), 'gateway', r.gateway, 'refund_status', r.status, 'reason', CASE WHEN r.kind <> 'refund' THEN r.reason END), 4
    FROM returned r WHERE r.status IN ('done', 'failed')
    UNION ALL
    SELECT d.opened_at, 'dispute', 'A dispute of R$ ' || to_char(d.amount_cents / 100.0, 'FM999999999990.00') || ' was opened.',
        jsonb_build_object('amount', (d.amount_cents / 100.0)::numeric(20, 2), 'gateway', d.gateway, 'dispute_state', CASE WHEN d.state = 'inquiry' OR d.state = 'dismissed' THEN 'inquiry' ELSE 'open' END), 5
    FROM disputed d
    UNION ALL
    SELECT d.closed_at, 'dispute', 'A dispute of R$ ' || to_char(d.amount_cents / 100.0, 'FM999999999990.00') || ' was ' || d.state || '.',
        jsonb_build_object('amount', (d.amount_cents / 100.0)::numeric(20, 2), 'gateway', d.gateway, 'dispute_state', d.state), 6
    FROM disputed d WHERE d.closed_at IS NOT NULL
    UNION ALL
    SELECT o.event_cancelled_at, 'event_cancelled', 'The event was called off.', '{}'::jsonb, 7 FROM ordered o WHERE o.event_cancelled_at IS NOT NULL
)
SELECT json_build_object(
    '_id', o.order_id, 'event', json_build_object('_id', o.event_id, 'title', o.event_title, 'event_date', platform.json_time(e.event_date), 'location', e.location,
        'cancelled_at', platform.json_time(o.event_cancelled_at)),
    'customer_id', o.account_id, 'buyer', json_build_object('full_name', o.buyer_name, 'email', o.buyer_email, 'phone', o.buyer_phone),
    'quantity', o.quantity, 'unit_price', (o.unit_price_cents / 100.0)::numeric(20, 2), 'total', (o.total_cents / 100.0)::numeric(20, 2),
    'refunded', (o.refunded_cents / 100.0)::numeric(20, 2), 'gateway', o.gateway, 'gateway_payment_id', o.gateway_payment_id, 'payment_method', o.payment_method,
    'payment_status', o.payment_status, 'state', o.state, 'without_login', o.without_login, 'sold_by', o.sold_by, 'note', o.note,
    'hold_until', CASE WHEN o.state = 'reserved' THEN platform.json_time(o.hold_until) END, 'paid_at', platform.json_time(o.paid_at),
    'disputed_at', platform.json_time(o.disputed_at), 'created_at', platform.json_time(o.created_at),
    'tickets', (SELECT coalesce(json_agg(json_build_object(
            '_id', t.ticket_id, 'title', n.title, 'status', t.status, 'blocked', t.blocked, 'refunded_at', platform.json_time(t.refunded_at), 'ticket_order_id', t.order_id,
            'promo_code', n.promo_code, 'consumed_at', platform.json_time(t.consumed_at), 'created_at', platform.json_time(t.created_at)
        ) ORDER BY t.created_at DESC, t.ticket_id), '[]') FROM held t JOIN finance.tickets_personal n ON n.ticket_id = t.ticket_id),
    'payments', (SELECT coalesce(json_agg(json_build_object(
            '_id', p.id, 'gateway', p.gateway, 'gateway_payment_id', p.gateway_payment_id, 'payment_method', p.method, 'amount', (p.amount_cents / 100.0)::numeric(20, 2),
            'status', p.native_status, 'paid_at', platform.json_time(p.settled_at)) ORDER BY p.settled_at DESC, p.id), '[]') FROM paid p),
    'refunds', (SELECT coalesce(json_agg(json_build_object(
            '_id', r.id, 'kind', r.kind, 'gateway', r.gateway, 'payment_id', r.payment_ref, 'amount', (r.amount_cents / 100.0)::numeric(20, 2), 'status', r.status,
            'source', r.source, 'admin', r.admin, 'reason', r.reason, 'failure', r.failure,
            'requested_at', platform.json_time(r.requested_at), 'refunded_at', platform.json_time(r.refunded_at)) ORDER BY r.requested_at DESC, r.id), '[]') FROM returned r),
    'disputes', (SELECT coalesce(json_agg(json_build_object(
            '_id', d.id, 'kind', d.kind, 'gateway', d.gateway, 'payment_id', d.payment_ref, 'amount', (d.amount_cents / 100.0)::numeric(20, 2), 'state', d.state, 'reason', d.reason,
            'opened_at', platform.json_time(d.opened_at), 'closed_at', platform.json_time(d.closed_at), 'evidence_due_at', platform.json_time(d.evidence_due_at),
            'evidence_sent', d.evidence_sent) ORDER BY d.opened_at DESC, d.id), '[]') FROM disputed d),
    'history', (SELECT coalesce(json_agg(json_build_object('at', platform.json_time(h.at), 'from_state', h.from_state, 'to_state', h.to_state, 'reason', h.reason)
            ORDER BY h.id DESC), '[]') FROM (SELECT x.* FROM tickets.order_transitions x WHERE x.order_id = o.order_id ORDER BY x.id DESC LIMIT 500) h),
    'timeline', (SELECT coalesce(json_agg(jsonb_build_object('at', platform.json_time(m.at), 'type', m.type, 'summary', m.summary) || jsonb_strip_nulls(m.details)
            ORDER BY m.place), '[]') FROM (SELECT *, row_number() OVER (ORDER BY date_trunc('second', at) DESC, step DESC, at DESC, summary) AS place FROM moment ORDER BY place LIMIT 500) m) -- gateways tell seconds
)::json AS report
FROM ordered o JOIN finance.events e ON e.event_id = o.event_id;

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
