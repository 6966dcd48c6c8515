CREATE OR REPLACE VIEW finance.failed_attempts AS
SELECT f.id AS failed_attempt_id, f.gateway, f.gateway_payment_id, f.attempt, f.purpose,
    CASE WHEN f.purpose = 'subscription' THEN f.local_id END::text AS subscription_id, CASE WHEN f.purpose = 'order' THEN f.local_id END::text AS order_id,
    f.amount_cents, f.failed_at, (f.failed_at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS failed_on
FROM payments.failed_attempts f;
COMMENT ON VIEW finance.failed_attempts IS 'Failed attempts to take a payment, one row a (gateway, payment or invoice, attempt number). A PIX that merely ran out is none. Source: payments.failed_attempts.';
COMMENT ON COLUMN finance.failed_attempts.failed_attempt_id IS 'Key.';
COMMENT ON COLUMN finance.failed_attempts.gateway IS 'gwa or gwb.';
COMMENT ON COLUMN finance.failed_attempts.gateway_payment_id IS 'The gateways id, for checking against its statements. Gateway A: pay_…. Gateway B: the invoice in_…, else the payment intent pi_….';
COMMENT ON COLUMN finance.failed_attempts.attempt IS 'Counted by the gateway from 1; 0 while the number has not been told.';
COMMENT ON COLUMN finance.failed_attempts.purpose IS 'subscription or order. The finance dashboard counts subscription alone.';
COMMENT ON COLUMN finance.failed_attempts.subscription_id IS 'The subscription (finance.subscriptions); null when it is not about one.';
COMMENT ON COLUMN finance.failed_attempts.order_id IS 'The ticket order (finance.orders); null when it is not about one.';
COMMENT ON COLUMN finance.failed_attempts.amount_cents IS 'What was to be paid, cents.';
COMMENT ON COLUMN finance.failed_attempts.failed_at IS 'Instant, UTC.';
COMMENT ON COLUMN finance.failed_attempts.failed_on IS 'Day of failed_at in the report time zone.';
