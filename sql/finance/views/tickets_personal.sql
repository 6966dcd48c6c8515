CREATE OR REPLACE VIEW finance.tickets_personal AS
SELECT t.id AS ticket_id, t.title, t.promo_code
FROM tickets.tickets t;
COMMENT ON VIEW finance.tickets_personal IS 'PERSONAL DATA: what is written on tickets, which people may have worded, and the text of their promo code. Source: tickets.tickets.';
COMMENT ON COLUMN finance.tickets_personal.ticket_id IS 'Key, as in finance.tickets.';
COMMENT ON COLUMN finance.tickets_personal.title IS 'Title.';
COMMENT ON COLUMN finance.tickets_personal.promo_code IS 'The code that made it; null for none.';
