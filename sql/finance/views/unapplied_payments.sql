CREATE OR REPLACE VIEW finance.unapplied_payments AS
SELECT u.id AS unapplied_id, u.gateway, u.gateway_payment_id, u.kind, u.state, u.state IN ('open', 'refunding') AS is_open, u.customer_id, u.subscription_id,
    u.order_id, u.amount_cents, u.paid_at, u.created_at, (u.created_at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS created_on
FROM payments.unapplied_payments u;
COMMENT ON VIEW finance.unapplied_payments IS 'Money that bought nothing, or that a gateway did not give back, one row each, and what was decided about it. Source: payments.unapplied_payments.';
COMMENT ON COLUMN finance.unapplied_payments.unapplied_id IS 'Key.';
COMMENT ON COLUMN finance.unapplied_payments.gateway IS 'gwa or gwb.';
COMMENT ON COLUMN finance.unapplied_payments.gateway_payment_id IS 'The gateways id of the payment; null while none is known.';
COMMENT ON COLUMN finance.unapplied_payments.kind IS 'late, duplicate, foreign, unrefundable or unknown.';
COMMENT ON COLUMN finance.unapplied_payments.state IS 'open, refunding, refunded, extended or kept.';
COMMENT ON COLUMN finance.unapplied_payments.is_open IS 'Nobody has decided yet, or its refund is under way.';
COMMENT ON COLUMN finance.unapplied_payments.customer_id IS 'The customer (finance.customers); stays when they are deleted; null while it is not known whose it is.';
COMMENT ON COLUMN finance.unapplied_payments.subscription_id IS 'The subscription (finance.subscriptions); null when it is not about one.';
COMMENT ON COLUMN finance.unapplied_payments.order_id IS 'The ticket order (finance.orders); null when it is not about one.';
COMMENT ON COLUMN finance.unapplied_payments.amount_cents IS 'What it is about, cents; null while unknown.';
COMMENT ON COLUMN finance.unapplied_payments.paid_at IS 'When it was paid, UTC.';
COMMENT ON COLUMN finance.unapplied_payments.created_at IS 'When it was listed, UTC.';
COMMENT ON COLUMN finance.unapplied_payments.created_on IS 'Day of created_at in the report time zone.';
