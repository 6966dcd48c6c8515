package scale

// store is the ticket store: an event for every thousand subscriptions, an order
// for every ten. Tickets are counted and their histories begun by the triggers of
// their table.
var store = []part{
	{"events", `
INSERT INTO tickets.events (id, code, title, event_type, event_date, location, capacity, ticket_value_cents, is_sale_box_office, is_active, register_date, register_update_date)
SELECT pg_temp.scale_id(e.made, 'e7', n), 'SCALE-' || n, 'Evening ' || n, (ARRAY['movie_premiere', 'lecture', 'screening', 'other'])[n % 4 + 1],
    date_trunc('milliseconds', $2::timestamptz - interval '720 days' + pg_temp.scale_dice(n, 20) * interval '840 days'), 'Cine ' || n % 20, 1000000,
    2500 + 500 * (n % 8), true, true, e.made, e.made
FROM generate_series(0, greatest($1::bigint / 1000, 5) - 1) n
CROSS JOIN LATERAL (SELECT $2::timestamptz - interval '1095 days' AS made) e`},
	{"orders", `
INSERT INTO tickets.orders (id, customer_id, event_id, quantity, unit_price_cents, total_cents, gateway, payment_method, gateway_payment_id, payment_status,
    state, hold_until, paid_at, intent_open, created_at, updated_at)
SELECT pg_temp.scale_id(o.at, '0d', o.n), o.customer_id, o.event_id, o.quantity, o.price, o.price * o.quantity, o.gateway,
    CASE o.gateway WHEN 'gwa' THEN 'pix' ELSE 'credit_card' END, CASE o.gateway WHEN 'gwa' THEN 'pay_order_' ELSE 'pi_order_' END || o.n,
    CASE o.state WHEN 'paid' THEN CASE o.gateway WHEN 'gwa' THEN 'RECEIVED' ELSE 'succeeded' END
        WHEN 'refunded' THEN CASE o.gateway WHEN 'gwa' THEN 'REFUNDED' ELSE 'refunded' END
        ELSE CASE o.gateway WHEN 'gwa' THEN 'OVERDUE' ELSE 'canceled' END END,
    o.state, NULL, CASE WHEN o.state <> 'released' THEN o.at END, false, o.at, o.at
FROM (
    SELECT k.n, l.customer_id, e.id AS event_id, e.ticket_value_cents AS price, 1 + k.n % 4 AS quantity,
        CASE WHEN k.n % 10 < 6 THEN 'gwa' ELSE 'gwb' END AS gateway,
        CASE WHEN k.n % 20 = 19 THEN 'refunded' WHEN k.n % 20 > 16 THEN 'released' ELSE 'paid' END AS state,
        date_trunc('milliseconds', least(e.event_date, $2::timestamptz) - interval '2 days' - pg_temp.scale_dice(k.n, 21) * interval '30 days') AS at
    FROM generate_series(0, $1::bigint / 10 - 1) AS k (n)
    JOIN scale_lives l ON l.n = floor(pg_temp.scale_dice(k.n, 22) * ($1::bigint - $1::bigint / 5))::bigint
    JOIN tickets.events e ON e.code = 'SCALE-' || floor(pg_temp.scale_dice(k.n, 23) * greatest($1::bigint / 1000, 5))::bigint
) o
ORDER BY 1`},
	{"people with tickets", `
INSERT INTO tickets.customers (id, name, email)
SELECT u.id, u.full_name, u.email
FROM accounts.users u
WHERE u.id IN (SELECT customer_id FROM tickets.orders) AND NOT EXISTS (SELECT FROM tickets.customers c WHERE c.id = u.id)
ORDER BY 1`},
	{"tickets", `
INSERT INTO tickets.tickets (id, event_id, customer_id, order_id, title, status, holds_place, reason, consumed_at, register_date, register_update_date)
SELECT pg_temp.scale_id(o.created_at, '71', ('x' || right(o.id, 10))::bit(40)::bigint * 8 + k), o.event_id, o.customer_id, o.id, e.title, t.status,
    o.state = 'paid', CASE WHEN o.state <> 'paid' THEN o.state WHEN t.status = 'consumed' THEN 'checked_in' WHEN t.status = 'expired' THEN 'event_over' ELSE 'paid' END,
    CASE WHEN t.status = 'consumed' THEN e.event_date END, o.created_at, o.created_at
FROM tickets.orders o
JOIN tickets.events e ON e.id = o.event_id AND e.code LIKE 'SCALE-%'
CROSS JOIN LATERAL generate_series(1, o.quantity) k
CROSS JOIN LATERAL (SELECT CASE WHEN o.state <> 'paid' THEN 'expired' WHEN e.ends_at > $2::timestamptz AND $1::bigint > 0 THEN 'available'
    WHEN (k + o.quantity) % 5 = 0 THEN 'expired' ELSE 'consumed' END AS status) t
ORDER BY 1`},
	{"payments of orders", `
INSERT INTO payments.payments (id, gateway, gateway_payment_id, payment_intent_id, purpose, local_id, customer_id, amount_cents, method, native_status,
    settled_at, created_at, updated_at)
SELECT pg_temp.scale_id(o.paid_at, '9b', ('x' || right(o.id, 10))::bit(40)::bigint), o.gateway, o.gateway_payment_id, CASE o.gateway WHEN 'gwb' THEN o.gateway_payment_id END,
    'order', o.id, o.customer_id, o.total_cents, o.payment_method, CASE o.gateway WHEN 'gwa' THEN 'RECEIVED' ELSE 'succeeded' END, o.paid_at, o.paid_at, o.paid_at
FROM tickets.orders o
JOIN tickets.events e ON e.id = o.event_id AND e.code LIKE 'SCALE-%'
WHERE o.paid_at IS NOT NULL
ORDER BY 1`},
	{"refunds of orders", `
INSERT INTO payments.refunds (id, gateway, payment_ref, gateway_refund_id, purpose, local_id, customer_id, amount_cents, status, source, event_id, event_type,
    reason, requested_at, refunded_at, created_at, updated_at)
SELECT pg_temp.scale_id(o.paid_at, 'ee', ('x' || right(o.id, 10))::bit(40)::bigint), o.gateway, o.gateway_payment_id, 're_' || o.gateway_payment_id, 'order', o.id, o.customer_id,
    o.total_cents, 'done', 'gateway', 'evt_' || o.gateway_payment_id, 'refund', 'requested_by_customer', r.at, r.at, r.at, r.at
FROM tickets.orders o
JOIN tickets.events e ON e.id = o.event_id AND e.code LIKE 'SCALE-%'
CROSS JOIN LATERAL (SELECT o.paid_at + interval '1 day' AS at) r
WHERE o.state = 'refunded'
ORDER BY 1`},
	{"histories of refunds of orders", `
INSERT INTO payments.refund_transitions (refund_id, at, to_state, action)
SELECT r.id, r.refunded_at, r.status, 'made' FROM payments.refunds r WHERE r.purpose = 'order' ORDER BY r.id`},
}
