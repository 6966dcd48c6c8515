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
COMMENT ON VIEW finance.tickets IS 'Tickets, one row each. Source: tickets.tickets, tickets.events, tickets.orders.';
COMMENT ON COLUMN finance.tickets.ticket_id IS 'Key.';
COMMENT ON COLUMN finance.tickets.event_id IS 'The event (finance.events).';
COMMENT ON COLUMN finance.tickets.customer_id IS 'The customer (finance.customers); stays when they are deleted.';
COMMENT ON COLUMN finance.tickets.order_id IS 'The order that sold it; null for promo codes and gifts.';
COMMENT ON COLUMN finance.tickets.promo_code_id IS 'The promo code that made it; null for none.';
COMMENT ON COLUMN finance.tickets.status IS 'pending, available, consumed or expired.';
COMMENT ON COLUMN finance.tickets.holds_place IS 'False once it expired unpaid.';
COMMENT ON COLUMN finance.tickets.created_at IS 'Instant, UTC.';
COMMENT ON COLUMN finance.tickets.consumed_at IS 'When it was used at the door, UTC.';
COMMENT ON COLUMN finance.tickets.is_live IS 'pending, available or consumed, of an event that is not called off: counts in occupancy.';
COMMENT ON COLUMN finance.tickets.is_sold IS 'With an order, not expired unpaid, of an event that is not called off.';
COMMENT ON COLUMN finance.tickets.is_promo IS 'With a promo code and no order, likewise.';
COMMENT ON COLUMN finance.tickets.blocked IS 'Why it opens no door although its status holds: refund_requested, event_cancelled, payment_disputed; null when nothing blocks it.';
COMMENT ON COLUMN finance.tickets.refunded_at IS 'When its share of the orders money was given back, UTC.';
