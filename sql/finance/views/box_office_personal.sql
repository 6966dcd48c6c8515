CREATE OR REPLACE VIEW finance.box_office_personal AS
SELECT o.id::text AS entry_id, o.sold_by AS staff, o.note FROM tickets.orders o WHERE o.sold_by_id IS NOT NULL
UNION ALL
SELECT r.id::text, r.admin, r.reason FROM payments.refunds r WHERE r.kind = 'by_hand';
COMMENT ON VIEW finance.box_office_personal IS 'PERSONAL DATA: who sold and handed back at the box office, and what they wrote. Source: tickets.orders, payments.refunds.';
COMMENT ON COLUMN finance.box_office_personal.entry_id IS 'Key, as in finance.box_office.';
COMMENT ON COLUMN finance.box_office_personal.staff IS 'Username of that time.';
COMMENT ON COLUMN finance.box_office_personal.note IS 'Free text: why a courtesy was given, why a sale was taken back.';
