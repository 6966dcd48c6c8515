CREATE OR REPLACE VIEW finance.orders AS
SELECT o.id AS order_id, o.customer_id, o.event_id, e.title AS event_title, e.event_type, o.quantity, o.unit_price_cents, o.total_cents,
    o.gateway, o.payment_method, o.gateway_payment_id, o.payment_status, o.payment_status IN ('CONFIRMED', 'RECEIVED', 'succeeded') AND e.cancelled_at IS NULL AS is_paid, o.state,
    o.without_login, o.created_at, (o.created_at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS created_on,
    o.paid_at, (o.paid_at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS paid_on,
    o.disputed_at, coalesce(r.cents, 0)::bigint AS refunded_cents,
    CASE WHEN o.payment_status IN ('CONFIRMED', 'RECEIVED', 'succeeded') AND e.cancelled_at IS NULL THEN greatest(o.total_cents - coalesce(r.cents, 0), 0) ELSE 0 END::bigint AS revenue_cents,
    e.cancelled_at AS event_cancelled_at,
    CASE WHEN o.payment_status IN ('CONFIRMED', 'RECEIVED', 'succeeded') AND e.cancelled_at IS NOT NULL THEN greatest(o.total_cents - coalesce(r.cents, 0), 0) ELSE 0 END::bigint AS kept_cents,
    o.sold_by_id, o.sold_by_id IS NOT NULL AS is_box_office
FROM tickets.orders o
JOIN tickets.events e ON e.id = o.event_id
LEFT JOIN (
    SELECT local_id, payment_ref, sum(amount_cents) AS cents FROM payments.refunds WHERE purpose = 'order' AND status = 'done' GROUP BY local_id, payment_ref
) r ON r.local_id = o.id AND r.payment_ref = coalesce(o.gateway_payment_id, o.id);
COMMENT ON VIEW finance.orders IS 'Orders of the ticket store and the box office, one row each. Order revenue is the sum of revenue_cents. Source: tickets.orders, payments.refunds.';
COMMENT ON COLUMN finance.orders.order_id IS 'Key.';
COMMENT ON COLUMN finance.orders.customer_id IS 'The customer (finance.customers); stays when they are deleted.';
COMMENT ON COLUMN finance.orders.event_id IS 'The event (finance.events).';
COMMENT ON COLUMN finance.orders.event_title IS 'The events title.';
COMMENT ON COLUMN finance.orders.event_type IS 'movie_premiere, lecture, screening or other.';
COMMENT ON COLUMN finance.orders.quantity IS 'Tickets.';
COMMENT ON COLUMN finance.orders.unit_price_cents IS 'Price of one ticket as sold, cents.';
COMMENT ON COLUMN finance.orders.total_cents IS 'Cents.';
COMMENT ON COLUMN finance.orders.gateway IS 'gwa or gwb; null for free orders and those of the box office.';
COMMENT ON COLUMN finance.orders.payment_method IS 'credit_card or pix; of the box office cash, card_machine or courtesy; null for free orders of the store.';
COMMENT ON COLUMN finance.orders.gateway_payment_id IS 'The gateways id of its payment.';
COMMENT ON COLUMN finance.orders.without_login IS 'Bought as a guest.';
COMMENT ON COLUMN finance.orders.created_at IS 'Instant, UTC.';
COMMENT ON COLUMN finance.orders.created_on IS 'Day of created_at in the report time zone.';
COMMENT ON COLUMN finance.orders.paid_at IS 'When it was paid, UTC.';
COMMENT ON COLUMN finance.orders.paid_on IS 'Day of paid_at in the report time zone.';
COMMENT ON COLUMN finance.orders.state IS 'reserved, paid, released, refund_due, refunded or lost (a dispute took its money).';
COMMENT ON COLUMN finance.orders.payment_status IS 'The gateways own word; CHARGEBACK_LOST when a dispute took the money.';
COMMENT ON COLUMN finance.orders.disputed_at IS 'Since when a dispute of its payment is open, UTC; null while none is.';
COMMENT ON COLUMN finance.orders.refunded_cents IS 'Given back of its own payment, or handed back at the box office, cents.';
COMMENT ON COLUMN finance.orders.revenue_cents IS 'total_cents minus refunded_cents where is_paid, else 0; cents.';
COMMENT ON COLUMN finance.orders.is_paid IS 'payment_status is CONFIRMED, RECEIVED or succeeded, and the event is not called off: an order that was refunded in full, or whose money a dispute took, has left.';
COMMENT ON COLUMN finance.orders.event_cancelled_at IS 'When its event was called off, UTC; null while it is not.';
COMMENT ON COLUMN finance.orders.kept_cents IS 'Of a called off event: total_cents minus refunded_cents, as long as it is here; cents. It is owed or was not asked for, and no revenue.';
COMMENT ON COLUMN finance.orders.sold_by_id IS 'Of the box office, the member of staff who sold it; null of the store.';
COMMENT ON COLUMN finance.orders.is_box_office IS 'Sold at the box office: paid at once, without a gateway.';
