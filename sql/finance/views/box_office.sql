CREATE OR REPLACE VIEW finance.box_office AS
SELECT o.id::text AS entry_id, 'sale' AS kind, o.event_id, o.id AS order_id, o.payment_method AS method, o.sold_by_id AS staff_id, o.paid_at AS at,
    (o.paid_at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS day, o.quantity AS tickets, o.total_cents AS amount_cents
FROM tickets.orders o WHERE o.sold_by_id IS NOT NULL
UNION ALL
SELECT r.id::text, 'refund', o.event_id, o.id, o.payment_method, r.admin_id, r.refunded_at,
    (r.refunded_at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date,
    (SELECT count(*) FROM tickets.tickets t WHERE t.order_id = o.id AND t.refund_id = r.id)::integer, r.amount_cents
FROM tickets.orders o JOIN payments.refunds r ON r.purpose = 'order' AND r.local_id = o.id AND r.kind = 'by_hand' WHERE o.sold_by_id IS NOT NULL;
COMMENT ON VIEW finance.box_office IS 'What the box office sold and handed back, one row each; the till of a day is sales minus refunds of the method. Source: tickets.orders, tickets.tickets, payments.refunds.';
COMMENT ON COLUMN finance.box_office.entry_id IS 'Key: of a sale the order, of a refund the refund.';
COMMENT ON COLUMN finance.box_office.kind IS 'sale or refund.';
COMMENT ON COLUMN finance.box_office.event_id IS 'The event (finance.events).';
COMMENT ON COLUMN finance.box_office.order_id IS 'The order (finance.orders).';
COMMENT ON COLUMN finance.box_office.method IS 'cash, card_machine or courtesy: how the order was paid, and is handed back.';
COMMENT ON COLUMN finance.box_office.staff_id IS 'Who sold it, or handed it back.';
COMMENT ON COLUMN finance.box_office.at IS 'Instant, UTC.';
COMMENT ON COLUMN finance.box_office.day IS 'Day of it in the report time zone.';
COMMENT ON COLUMN finance.box_office.tickets IS 'Tickets sold, or given back.';
COMMENT ON COLUMN finance.box_office.amount_cents IS 'Taken, or handed back, cents; 0 of courtesies.';
