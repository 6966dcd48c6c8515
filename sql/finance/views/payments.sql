CREATE OR REPLACE VIEW finance.payments AS
SELECT p.id AS payment_id, p.gateway, p.gateway_payment_id, p.purpose,
    CASE WHEN p.purpose = 'subscription' THEN p.local_id END::text AS subscription_id, CASE WHEN p.purpose = 'order' THEN p.local_id END::text AS order_id,
    p.customer_id, p.method AS payment_method, p.amount_cents, p.native_status,
    p.settled_at, (p.settled_at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS settled_on
FROM payments.payments p;
COMMENT ON VIEW finance.payments IS 'Settled payments, one row a gateway payment (CONFIRMED and, later, RECEIVED are one). Gross is the sum of amount_cents of purpose subscription by settled_on. Source: payments.payments.';
COMMENT ON COLUMN finance.payments.payment_id IS 'Key.';
COMMENT ON COLUMN finance.payments.gateway IS 'gwa or gwb.';
COMMENT ON COLUMN finance.payments.gateway_payment_id IS 'The gateways id, for checking against its statements. Gateway A: pay_…. Gateway B: the invoice in_…, else the payment intent pi_….';
COMMENT ON COLUMN finance.payments.purpose IS 'subscription or order. The finance dashboard counts subscription alone.';
COMMENT ON COLUMN finance.payments.subscription_id IS 'The subscription (finance.subscriptions); null when it is not about one.';
COMMENT ON COLUMN finance.payments.order_id IS 'The ticket order (finance.orders); null when it is not about one.';
COMMENT ON COLUMN finance.payments.customer_id IS 'The customer (finance.customers); stays when they are deleted.';
COMMENT ON COLUMN finance.payments.payment_method IS 'credit_card, pix or boleto.';
COMMENT ON COLUMN finance.payments.amount_cents IS 'What was paid, cents, whole: a yearly PIX stands in one row.';
COMMENT ON COLUMN finance.payments.native_status IS 'The gateways own word, such as CONFIRMED, RECEIVED, succeeded, paid.';
COMMENT ON COLUMN finance.payments.settled_at IS 'When the money counted, UTC: approved or received, whichever was first.';
COMMENT ON COLUMN finance.payments.settled_on IS 'Day of settled_at in the report time zone.';
