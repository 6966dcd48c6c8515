-- +goose Up
CREATE OR REPLACE VIEW finance.tickets AS
SELECT t.id AS ticket_id, t.event_id, t.customer_id, t.order_id, t.promo_code_id, t.status, t.holds_place,
    t.status IN ('pending', 'available', 'consumed') AND e.cancelled_at IS NULL AS is_live,
    t.holds_place AND t.order_id IS NOT NULL AND e.cancelled_at IS NULL AS is_sold,
    t.holds_place AND t.order_id IS NULL AND t.promo_code_id IS NOT NULL AND e.cancelled_at IS NULL AS is_promo,
    t.register_date AS created_at, t.consumed_at,
    tickets.blocked(t.status, t.refund_id, o.disputed_at, e.cancelled_at) AS blocked, t.refunded_at
FROM tickets.tickets t
LEFT JOIN tickets.events e ON e.id = t.event_id
LEFT JOIN tickets.orders o ON o.id = t.order_id;

CREATE OR REPLACE VIEW finance.orders AS
SELECT o.id AS order_id, o.customer_id, o.event_id, e.title AS event_title, e.event_type, o.quantity, o.unit_price_cents, o.total_cents,
    o.gateway, o.payment_method, o.gateway_payment_id, o.payment_status, o.payment_status IN ('CONFIRMED', 'RECEIVED', 'succeeded') AND e.cancelled_at IS NULL AS is_paid, o.state,
    o.without_login, o.created_at, (o.created_at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS created_on,
    o.paid_at, (o.paid_at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS paid_on,
    o.disputed_at, coalesce(r.cents, 0)::bigint AS refunded_cents,
    CASE WHEN o.payment_status IN ('CONFIRMED', 'RECEIVED', 'succeeded') AND e.cancelled_at IS NULL THEN greatest(o.total_cents - coalesce(r.cents, 0), 0) ELSE 0 END::bigint AS revenue_cents,
    e.cancelled_at AS event_cancelled_at,
    CASE WHEN o.payment_status IN ('CONFIRMED', 'RECEIVED', 'succeeded') AND e.cancelled_at IS NOT NULL THEN greatest(o.total_cents - coalesce(r.cents, 0), 0) ELSE 0 END::bigint AS kept_cents
FROM tickets.orders o
JOIN tickets.events e ON e.id = o.event_id
LEFT JOIN (
    SELECT local_id, payment_ref, sum(amount_cents) AS cents FROM payments.refunds WHERE purpose = 'order' AND status = 'done' GROUP BY local_id, payment_ref
) r ON r.local_id = o.id AND r.payment_ref = o.gateway_payment_id;

CREATE OR REPLACE VIEW finance.events AS
SELECT e.id AS event_id, e.title, e.event_type, e.event_date, e.ends_at, e.location, coalesce(e.capacity, 0) AS capacity, e.is_active,
    e.is_sale_box_office AS is_on_sale, e.event_date > finance.now() AND e.cancelled_at IS NULL AS is_upcoming, coalesce(e.ticket_value_cents, 0) AS ticket_value_cents,
    t.live AS tickets_live, t.sold AS tickets_sold, t.promo AS tickets_promo, t.pending AS tickets_pending, t.available AS tickets_available,
    t.consumed AS tickets_consumed, t.expired AS tickets_expired,
    o.orders AS orders_count, CASE WHEN e.cancelled_at IS NULL THEN o.paid ELSE 0 END AS paid_orders,
    CASE WHEN e.cancelled_at IS NULL THEN greatest(o.revenue_cents - g.cents, 0) ELSE 0 END AS revenue_cents,
    CASE WHEN coalesce(e.capacity, 0) = 0 THEN 0 ELSE round(100.0 * t.live / e.capacity, 2) END::numeric AS occupancy_pct, e.cancelled_at,
    CASE WHEN e.cancelled_at IS NULL THEN 0 ELSE greatest(o.revenue_cents - g.cents, 0) END AS kept_cents
FROM tickets.events e
LEFT JOIN LATERAL (
    SELECT count(*) FILTER (WHERE k.is_live) AS live, count(*) FILTER (WHERE k.is_sold) AS sold, count(*) FILTER (WHERE k.is_promo) AS promo,
        count(*) FILTER (WHERE k.status = 'pending') AS pending, count(*) FILTER (WHERE k.status = 'available') AS available,
        count(*) FILTER (WHERE k.status = 'consumed') AS consumed, count(*) FILTER (WHERE k.status = 'expired') AS expired
    FROM finance.tickets k WHERE k.event_id = e.id) t ON true
LEFT JOIN LATERAL (
    SELECT count(*) AS orders, count(*) FILTER (WHERE b.payment_status IN ('CONFIRMED', 'RECEIVED', 'succeeded')) AS paid,
        coalesce(sum(b.total_cents) FILTER (WHERE b.payment_status IN ('CONFIRMED', 'RECEIVED', 'succeeded')), 0)::bigint AS revenue_cents
    FROM tickets.orders b WHERE b.event_id = e.id) o ON true
LEFT JOIN LATERAL (
    SELECT coalesce(sum(r.amount_cents), 0)::bigint AS cents
    FROM tickets.orders b JOIN payments.refunds r ON r.purpose = 'order' AND r.local_id = b.id AND r.payment_ref = b.gateway_payment_id AND r.status = 'done'
    WHERE b.event_id = e.id AND b.payment_status IN ('CONFIRMED', 'RECEIVED', 'succeeded')) g ON true;

COMMENT ON VIEW finance.tickets IS 'Tickets, one row each. Source: tickets.tickets, tickets.events, tickets.orders.';
COMMENT ON COLUMN finance.tickets.is_live IS 'pending, available or consumed, of an event that is not called off: counts in occupancy.';
COMMENT ON COLUMN finance.tickets.is_sold IS 'With an order, not expired unpaid, of an event that is not called off.';
COMMENT ON COLUMN finance.tickets.is_promo IS 'With a promo code and no order, likewise.';
COMMENT ON COLUMN finance.tickets.blocked IS 'Why it opens no door although its status holds: refund_requested, event_cancelled, payment_disputed; null when nothing blocks it.';
COMMENT ON COLUMN finance.tickets.refunded_at IS 'When its share of the orders money was given back, UTC.';
COMMENT ON COLUMN finance.orders.is_paid IS 'payment_status is CONFIRMED, RECEIVED or succeeded, and the event is not called off: an order that was refunded in full, or whose money a dispute took, has left.';
COMMENT ON COLUMN finance.orders.event_cancelled_at IS 'When its event was called off, UTC; null while it is not.';
COMMENT ON COLUMN finance.orders.kept_cents IS 'Of a called off event: total_cents minus refunded_cents, as long as it is here; cents. It is owed or was not asked for, and no revenue.';
COMMENT ON COLUMN finance.events.is_upcoming IS 'Starts after finance.now(), and is not called off.';
COMMENT ON COLUMN finance.events.cancelled_at IS 'When it was called off, UTC; none of its orders and tickets counts.';
COMMENT ON COLUMN finance.events.kept_cents IS 'Of a called off event: what of its paid orders is not given back, cents.';
COMMENT ON COLUMN finance.events.revenue_cents IS 'Sum of total_cents of paid orders minus what was refunded of them, cents; 0 of a called off event.';

-- +goose StatementBegin
DO $$
BEGIN
    EXECUTE 'CREATE OR REPLACE VIEW finance.definitions AS ' || replace(replace(pg_get_viewdef('finance.definitions'::regclass), $t$minus what was refunded of them, reais'$t$, $t$minus what was refunded of them, reais; none of a called off event'$t$), $t$'live tickets (pending, available, consumed) / capacity x 100', '0 for unlimited'$t$, $t$'live tickets (pending, available, consumed) / capacity x 100', '0 for unlimited; none of a called off event'$t$);
END
$$;
-- +goose StatementEnd
SELECT finance.grant_analysts();

-- +goose Down
-- +goose StatementBegin
DO $$
BEGIN
    EXECUTE 'CREATE OR REPLACE VIEW finance.definitions AS ' || replace(replace(pg_get_viewdef('finance.definitions'::regclass), $t$minus what was refunded of them, reais; none of a called off event'$t$, $t$minus what was refunded of them, reais'$t$), $t$'live tickets (pending, available, consumed) / capacity x 100', '0 for unlimited; none of a called off event'$t$, $t$'live tickets (pending, available, consumed) / capacity x 100', '0 for unlimited'$t$);
END
$$;
-- +goose StatementEnd
CREATE TEMPORARY TABLE said ON COMMIT DROP AS
SELECT c.relname, a.attname, col_description(c.oid, a.attnum) AS words
FROM pg_class c LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
WHERE c.relnamespace = 'finance'::regnamespace AND c.relname IN ('tickets', 'orders', 'events')
UNION ALL
SELECT c.relname, NULL, obj_description(c.oid) FROM pg_class c WHERE c.relnamespace = 'finance'::regnamespace AND c.relname IN ('tickets', 'orders', 'events');
DROP VIEW finance.events;
DROP VIEW finance.orders;
DROP VIEW finance.tickets;
CREATE VIEW finance.tickets AS
SELECT t.id AS ticket_id, t.event_id, t.customer_id, t.order_id, t.promo_code_id, t.status, t.holds_place,
    t.status IN ('pending', 'available', 'consumed') AS is_live,
    t.holds_place AND t.order_id IS NOT NULL AS is_sold,
    t.holds_place AND t.order_id IS NULL AND t.promo_code_id IS NOT NULL AS is_promo,
    t.register_date AS created_at, t.consumed_at
FROM tickets.tickets t;

CREATE VIEW finance.orders AS
SELECT o.id AS order_id, o.customer_id, o.event_id, e.title AS event_title, e.event_type, o.quantity, o.unit_price_cents, o.total_cents,
    o.gateway, o.payment_method, o.gateway_payment_id, o.payment_status, o.payment_status IN ('CONFIRMED', 'RECEIVED', 'succeeded') AS is_paid, o.state,
    o.without_login, o.created_at, (o.created_at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS created_on,
    o.paid_at, (o.paid_at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS paid_on,
    o.disputed_at, coalesce(r.cents, 0)::bigint AS refunded_cents,
    CASE WHEN o.payment_status IN ('CONFIRMED', 'RECEIVED', 'succeeded') THEN greatest(o.total_cents - coalesce(r.cents, 0), 0) ELSE 0 END::bigint AS revenue_cents
FROM tickets.orders o
JOIN tickets.events e ON e.id = o.event_id
LEFT JOIN (
    SELECT local_id, payment_ref, sum(amount_cents) AS cents FROM payments.refunds WHERE purpose = 'order' AND status = 'done' GROUP BY local_id, payment_ref
) r ON r.local_id = o.id AND r.payment_ref = o.gateway_payment_id;

CREATE VIEW finance.events AS
SELECT e.id AS event_id, e.title, e.event_type, e.event_date, e.ends_at, e.location, coalesce(e.capacity, 0) AS capacity, e.is_active,
    e.is_sale_box_office AS is_on_sale, e.event_date > finance.now() AS is_upcoming, coalesce(e.ticket_value_cents, 0) AS ticket_value_cents,
    t.live AS tickets_live, t.sold AS tickets_sold, t.promo AS tickets_promo, t.pending AS tickets_pending, t.available AS tickets_available,
    t.consumed AS tickets_consumed, t.expired AS tickets_expired,
    o.orders AS orders_count, o.paid AS paid_orders, greatest(o.revenue_cents - g.cents, 0) AS revenue_cents,
    CASE WHEN coalesce(e.capacity, 0) = 0 THEN 0 ELSE round(100.0 * t.live / e.capacity, 2) END::numeric AS occupancy_pct
FROM tickets.events e
LEFT JOIN LATERAL (
    SELECT count(*) FILTER (WHERE k.is_live) AS live, count(*) FILTER (WHERE k.is_sold) AS sold, count(*) FILTER (WHERE k.is_promo) AS promo,
        count(*) FILTER (WHERE k.status = 'pending') AS pending, count(*) FILTER (WHERE k.status = 'available') AS available,
        count(*) FILTER (WHERE k.status = 'consumed') AS consumed, count(*) FILTER (WHERE k.status = 'expired') AS expired
    FROM finance.tickets k WHERE k.event_id = e.id) t ON true
LEFT JOIN LATERAL (
    SELECT count(*) AS orders, count(*) FILTER (WHERE b.payment_status IN ('CONFIRMED', 'RECEIVED', 'succeeded')) AS paid,
        coalesce(sum(b.total_cents) FILTER (WHERE b.payment_status IN ('CONFIRMED', 'RECEIVED', 'succeeded')), 0)::bigint AS revenue_cents
    FROM tickets.orders b WHERE b.event_id = e.id) o ON true
LEFT JOIN LATERAL (
    SELECT coalesce(sum(r.amount_cents), 0)::bigint AS cents
    FROM tickets.orders b JOIN payments.refunds r ON r.purpose = 'order' AND r.local_id = b.id AND r.payment_ref = b.gateway_payment_id AND r.status = 'done'
    WHERE b.event_id = e.id AND b.payment_status IN ('CONFIRMED', 'RECEIVED', 'succeeded')) g ON true;

-- +goose StatementBegin
DO $$
DECLARE s record;
BEGIN
    FOR s IN SELECT * FROM said WHERE words IS NOT NULL LOOP
        IF s.attname IS NULL THEN
            EXECUTE format('COMMENT ON VIEW finance.%I IS %L', s.relname, s.words);
        ELSIF EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = format('finance.%I', s.relname)::regclass AND a.attname = s.attname) THEN
            EXECUTE format('COMMENT ON COLUMN finance.%I.%I IS %L', s.relname, s.attname, s.words);
        END IF;
    END LOOP;
END
$$;
-- +goose StatementEnd
COMMENT ON COLUMN finance.tickets.is_live IS 'pending, available or consumed: counts in occupancy.';
COMMENT ON COLUMN finance.tickets.is_sold IS 'With an order, not expired unpaid.';
COMMENT ON COLUMN finance.tickets.is_promo IS 'With a promo code and no order, not expired unpaid.';
COMMENT ON COLUMN finance.orders.is_paid IS 'payment_status is CONFIRMED, RECEIVED or succeeded: an order that was refunded in full, or whose money a dispute took, has left.';
COMMENT ON COLUMN finance.events.is_upcoming IS 'Starts after finance.now().';
COMMENT ON COLUMN finance.events.revenue_cents IS 'Sum of total_cents of paid orders minus what was refunded of them, cents.';
SELECT finance.grant_analysts();
