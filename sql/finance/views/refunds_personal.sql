CREATE OR REPLACE VIEW finance.refunds_personal AS
SELECT r.id AS refund_id, r.reason, r.admin, r.failure
FROM payments.refunds r;
COMMENT ON VIEW finance.refunds_personal IS 'PERSONAL DATA: what people wrote at refunds. Source: payments.refunds.';
COMMENT ON COLUMN finance.refunds_personal.refund_id IS 'Key, as in finance.refunds.';
COMMENT ON COLUMN finance.refunds_personal.reason IS 'Free text of whoever asked.';
COMMENT ON COLUMN finance.refunds_personal.admin IS 'Username of the admin; null when the gateway reported it.';
COMMENT ON COLUMN finance.refunds_personal.failure IS 'Why it failed, in the gateways words.';
