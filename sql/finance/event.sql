-- name: EventDetailGet :one
-- One event with the newest 500 of its orders, tickets and promo codes.
SELECT json_build_object(
    'event_id', e.event_id, 'title', e.title, 'event_type', e.event_type, 'event_date', platform.json_time(e.event_date), 'location', e.location,
    'capacity', e.capacity, 'tickets_issued', e.tickets_live, 'tickets_sold', e.tickets_sold, 'tickets_promo', e.tickets_promo,
    'ticket_status', json_build_object('available', e.tickets_available, 'consumed', e.tickets_consumed, 'expired', e.tickets_expired),
    'revenue', (e.revenue_cents / 100.0)::numeric(20, 2), 'orders_count', e.orders_count, 'occupancy_pct', e.occupancy_pct,
        'cancelled_at', platform.json_time(e.cancelled_at), 'kept', (e.kept_cents / 100.0)::numeric(20, 2),
    'mailed_if_cancelled', (SELECT count(DISTINCT t.customer_id) FROM finance.tickets t WHERE t.event_id = e.event_id AND t.status IN ('available', 'consumed')
        AND coalesce(t.order_id, '') NOT IN (SELECT b.order_id FROM finance.box_office b WHERE b.event_id = e.event_id AND b.kind = 'sale')),
    'mailed_if_moved', (SELECT count(DISTINCT t.customer_id) FROM finance.tickets t WHERE t.event_id = e.event_id AND t.status = 'available'
        AND coalesce(t.order_id, '') NOT IN (SELECT b.order_id FROM finance.box_office b WHERE b.event_id = e.event_id AND b.kind = 'sale')),
    'sales', (
        SELECT coalesce(json_agg(json_build_object(
            'day', d.paid_on, 'payment_method', d.payment_method, 'orders', d.orders, 'tickets', d.tickets, 'total', (d.total_cents / 100.0)::numeric(20, 2)
        ) ORDER BY d.paid_on, d.payment_method NULLS LAST), '[]')
        FROM (
            SELECT o.paid_on, o.payment_method, count(*) AS orders, sum(o.quantity) AS tickets, sum(o.total_cents) AS total_cents
            FROM finance.orders o WHERE o.event_id = e.event_id AND o.paid_at IS NOT NULL
            GROUP BY o.paid_on, o.payment_method ORDER BY o.paid_on DESC, o.payment_method LIMIT 1000) d),
    'orders', (
        SELECT coalesce(json_agg(json_build_object(
            '_id', o.order_id, 'customer_id', o.customer_id, 'customer_name', coalesce(c.full_name, ''), 'customer_email', coalesce(c.email, ''),
            'quantity', o.quantity, 'unit_price', (o.unit_price_cents / 100.0)::numeric(20, 2), 'total', (o.total_cents / 100.0)::numeric(20, 2),
            'refunded', (o.refunded_cents / 100.0)::numeric(20, 2), 'gateway', o.gateway, 'payment_method', o.payment_method, 'payment_status', o.payment_status, 'without_login', o.without_login,
            'paid_at', platform.json_time(o.paid_at), 'created_at', platform.json_time(o.created_at)
        ) ORDER BY o.created_at DESC, o.order_id), '[]')
        FROM (SELECT * FROM finance.orders WHERE event_id = e.event_id ORDER BY created_at DESC, order_id LIMIT 500) o
        LEFT JOIN finance.customers_personal c ON c.customer_id = o.customer_id),
    'tickets', (
        SELECT coalesce(json_agg(json_build_object(
            '_id', t.ticket_id, 'customer_id', t.customer_id, 'customer_name', coalesce(c.full_name, ''), 'customer_email', coalesce(c.email, ''),
            'title', n.title, 'status', t.status, 'blocked', t.blocked, 'refunded_at', platform.json_time(t.refunded_at), 'ticket_order_id', t.order_id, 'promo_code', n.promo_code,
            'consumed_at', platform.json_time(t.consumed_at), 'created_at', platform.json_time(t.created_at)
        ) ORDER BY t.created_at DESC, t.ticket_id), '[]')
        FROM (SELECT * FROM finance.tickets WHERE event_id = e.event_id ORDER BY created_at DESC, ticket_id LIMIT 500) t
        CROSS JOIN LATERAL (SELECT k.title, k.promo_code FROM finance.tickets_personal k WHERE k.ticket_id = t.ticket_id OFFSET 0) n -- by key, however many are expected
        LEFT JOIN finance.customers_personal c ON c.customer_id = t.customer_id),
    'promo_codes', (
        SELECT coalesce(json_agg(json_build_object(
            '_id', p.promo_code_id, 'code', n.code, 'title', p.title, 'code_type', p.code_type, 'is_active', p.is_active, 'tickets_generated', p.tickets_generated
        ) ORDER BY p.created_at DESC, p.promo_code_id), '[]')
        FROM (SELECT * FROM finance.promo_codes WHERE event_id = e.event_id ORDER BY created_at DESC, promo_code_id LIMIT 500) p
        JOIN finance.promo_codes_personal n ON n.promo_code_id = p.promo_code_id)
)::json AS report
FROM finance.events e
WHERE e.event_id = @event_id;

-- name: EventListReport :one
-- A page of the events, the latest date first, and how many there are. Tickets and
-- orders are counted for the page alone.
WITH page AS MATERIALIZED (
    SELECT k.event_id FROM finance.events k
    WHERE (sqlc.narg('event_type')::text IS NULL OR k.event_type = sqlc.narg('event_type')) AND (k.is_active OR NOT @active_only::boolean)
    ORDER BY k.event_date DESC, k.event_id LIMIT sqlc.arg('size')::int OFFSET sqlc.arg('start')::int
)
SELECT json_build_object(
    'total', (SELECT count(*) FROM finance.events t
        WHERE (sqlc.narg('event_type')::text IS NULL OR t.event_type = sqlc.narg('event_type')) AND (t.is_active OR NOT @active_only::boolean)),
    'events', coalesce(json_agg(json_build_object(
        'event_id', e.event_id, 'title', e.title, 'event_type', e.event_type, 'event_date', platform.json_time(e.event_date), 'location', e.location,
        'capacity', e.capacity, 'tickets_issued', e.tickets_live, 'tickets_sold', e.tickets_sold, 'tickets_promo', e.tickets_promo,
        'ticket_status', json_build_object('available', e.tickets_available, 'consumed', e.tickets_consumed, 'expired', e.tickets_expired),
        'revenue', (e.revenue_cents / 100.0)::numeric(20, 2), 'orders_count', e.orders_count, 'occupancy_pct', e.occupancy_pct,
        'cancelled_at', platform.json_time(e.cancelled_at), 'kept', (e.kept_cents / 100.0)::numeric(20, 2)
    ) ORDER BY e.event_date DESC, e.event_id), '[]')
)::json AS report
FROM page JOIN finance.events e ON e.event_id = page.event_id;

-- name: EventOverviewGet :one
SELECT json_build_object(
    'total_events', e.events, 'active_events', e.active, 'upcoming_events', e.upcoming, 'past_events', e.events - e.upcoming,
    'total_tickets_issued', t.live, 'total_tickets_sold', t.sold, 'total_tickets_promo', t.promo,
    'total_revenue', (o.cents / 100.0)::numeric(20, 2),
    'total_orders', o.orders,
    'events_by_type', (SELECT coalesce(json_object_agg(k.event_type, k.events), '{}') FROM (
        SELECT event_type, count(*) AS events FROM finance.events GROUP BY event_type ORDER BY event_type) k)
)::json AS report
FROM (SELECT count(*) AS events, count(*) FILTER (WHERE x.is_active) AS active, count(*) FILTER (WHERE x.is_upcoming) AS upcoming FROM finance.events x) e
CROSS JOIN (SELECT count(*) FILTER (WHERE y.is_live) AS live, count(*) FILTER (WHERE y.is_sold) AS sold, count(*) FILTER (WHERE y.is_promo) AS promo FROM finance.tickets y) t
CROSS JOIN (SELECT count(*) AS orders, coalesce(sum(z.revenue_cents), 0) AS cents FROM finance.orders z) o;

-- name: EventGetBoxOffice :one
-- What the box office of an event took and handed back, by day, method and member of staff.
WITH entries AS MATERIALIZED (
    SELECT b.day, b.method, b.staff_id, n.staff,
        CASE b.kind WHEN 'sale' THEN b.amount_cents ELSE 0 END AS sold, CASE b.kind WHEN 'refund' THEN b.amount_cents ELSE 0 END AS refunded,
        CASE b.kind WHEN 'sale' THEN 1 ELSE 0 END AS sales, CASE b.kind WHEN 'sale' THEN b.tickets ELSE 0 END AS tickets_sold,
        CASE b.kind WHEN 'refund' THEN b.tickets ELSE 0 END AS tickets_refunded, b.at
    FROM finance.box_office b JOIN finance.box_office_personal n ON n.entry_id = b.entry_id
    WHERE b.event_id = @event_id AND coalesce(b.day >= NULLIF(@first_day::text, '')::date, true) AND coalesce(b.day <= NULLIF(@last_day::text, '')::date, true)
), rows AS (
    SELECT day, method, staff_id, (array_agg(staff ORDER BY at DESC))[1] AS staff, sum(sold)::bigint AS sold, sum(refunded)::bigint AS refunded,
        sum(sales)::bigint AS sales, sum(tickets_sold)::bigint AS tickets_sold, sum(tickets_refunded)::bigint AS tickets_refunded
    FROM entries GROUP BY day, method, staff_id
)
SELECT json_build_object(
    'event_id', e.event_id, 'title', e.title,
    'days', (SELECT coalesce(json_agg(json_build_object('day', d.day, 'sales', d.sales, 'tickets_sold', d.tickets_sold, 'tickets_refunded', d.tickets_refunded,
            'sold', (d.sold / 100.0)::numeric(20, 2), 'refunded', (d.refunded / 100.0)::numeric(20, 2), 'net', ((d.sold - d.refunded) / 100.0)::numeric(20, 2),
            'rows', d.rows) ORDER BY d.day DESC), '[]')
        FROM (SELECT r.day, sum(r.sales)::bigint AS sales, sum(r.tickets_sold)::bigint AS tickets_sold, sum(r.tickets_refunded)::bigint AS tickets_refunded,
                sum(r.sold)::bigint AS sold, sum(r.refunded)::bigint AS refunded,
                json_agg(json_build_object('method', r.method, 'staff_id', r.staff_id, 'staff', r.staff, 'sales', r.sales,
                    'tickets_sold', r.tickets_sold, 'tickets_refunded', r.tickets_refunded, 'sold', (r.sold / 100.0)::numeric(20, 2),
                    'refunded', (r.refunded / 100.0)::numeric(20, 2), 'net', ((r.sold - r.refunded) / 100.0)::numeric(20, 2))
                    ORDER BY r.method, r.staff, r.staff_id) AS rows
            FROM rows r GROUP BY r.day ORDER BY r.day DESC LIMIT 1000) d),
    'totals', (SELECT json_build_object('sales', coalesce(sum(r.sales), 0), 'tickets_sold', coalesce(sum(r.tickets_sold), 0),
            'tickets_refunded', coalesce(sum(r.tickets_refunded), 0), 'sold', (coalesce(sum(r.sold), 0) / 100.0)::numeric(20, 2),
            'refunded', (coalesce(sum(r.refunded), 0) / 100.0)::numeric(20, 2), 'net', (coalesce(sum(r.sold - r.refunded), 0) / 100.0)::numeric(20, 2)) FROM rows r)
)::json AS report
FROM finance.events e WHERE e.event_id = @event_id;
