-- Whoever asks neither for tickets nor for orders has them not counted.
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
    FROM tickets.orders b JOIN payments.refunds r ON r.purpose = 'order' AND r.local_id = b.id AND r.payment_ref = coalesce(b.gateway_payment_id, b.id) AND r.status = 'done'
    WHERE b.event_id = e.id AND b.payment_status IN ('CONFIRMED', 'RECEIVED', 'succeeded')) g ON true;
COMMENT ON VIEW finance.events IS 'Events with their occupancy and revenue, one row each. Source: tickets.events, finance.tickets, tickets.orders, payments.refunds.';
COMMENT ON COLUMN finance.events.event_id IS 'Key.';
COMMENT ON COLUMN finance.events.title IS 'Title.';
COMMENT ON COLUMN finance.events.event_type IS 'movie_premiere, lecture, screening or other.';
COMMENT ON COLUMN finance.events.event_date IS 'Start, UTC.';
COMMENT ON COLUMN finance.events.ends_at IS 'End, UTC; three hours after the start when none was given.';
COMMENT ON COLUMN finance.events.location IS 'Place.';
COMMENT ON COLUMN finance.events.capacity IS 'Places; 0 is unlimited.';
COMMENT ON COLUMN finance.events.is_active IS 'Switched on.';
COMMENT ON COLUMN finance.events.is_on_sale IS 'Sold in the store.';
COMMENT ON COLUMN finance.events.ticket_value_cents IS 'Price of one ticket, cents; 0 is free.';
COMMENT ON COLUMN finance.events.tickets_live IS 'Tickets pending, available or consumed.';
COMMENT ON COLUMN finance.events.tickets_sold IS 'Tickets with an order, not counting those that expired unpaid.';
COMMENT ON COLUMN finance.events.tickets_promo IS 'Tickets with a promo code and no order, likewise.';
COMMENT ON COLUMN finance.events.tickets_pending IS 'Tickets whose order is not paid yet.';
COMMENT ON COLUMN finance.events.tickets_available IS 'Tickets good to enter.';
COMMENT ON COLUMN finance.events.tickets_consumed IS 'Tickets used.';
COMMENT ON COLUMN finance.events.tickets_expired IS 'Tickets expired, paid or not.';
COMMENT ON COLUMN finance.events.orders_count IS 'Orders, paid or not.';
COMMENT ON COLUMN finance.events.paid_orders IS 'Paid orders.';
COMMENT ON COLUMN finance.events.occupancy_pct IS 'tickets_live / capacity x 100, two decimals; 0 for unlimited, and of a called off event.';
COMMENT ON COLUMN finance.events.is_upcoming IS 'Starts after finance.now(), and is not called off.';
COMMENT ON COLUMN finance.events.cancelled_at IS 'When it was called off, UTC; none of its orders and tickets counts.';
COMMENT ON COLUMN finance.events.kept_cents IS 'Of a called off event: what of its paid orders is not given back, cents.';
COMMENT ON COLUMN finance.events.revenue_cents IS 'Sum of total_cents of paid orders minus what was refunded of them, cents; 0 of a called off event.';
