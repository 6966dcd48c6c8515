CREATE OR REPLACE VIEW finance.refunds AS
SELECT r.id AS refund_id, r.gateway, r.gateway_refund_id, r.payment_ref, r.purpose,
    CASE WHEN r.purpose = 'subscription' THEN r.local_id END::text AS subscription_id, CASE WHEN r.purpose = 'order' THEN r.local_id END::text AS order_id,
    r.customer_id, r.amount_cents, r.status, r.status = 'done' AS is_done, r.source, r.event_id, r.event_type, r.requested_at,
    r.refunded_at, (r.refunded_at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS refunded_on
FROM payments.refunds r;
COMMENT ON VIEW finance.refunds IS 'Refunds, one row each, also those under way and failed. Money counts where is_done. Source: payments.refunds.';
COMMENT ON COLUMN finance.refunds.refund_id IS 'Key.';
COMMENT ON COLUMN finance.refunds.gateway IS 'gwa or gwb; null of what was handed back at the box office.';
COMMENT ON COLUMN finance.refunds.gateway_refund_id IS 'Gateway B re_…; gateway A gives none.';
COMMENT ON COLUMN finance.refunds.payment_ref IS 'The gateways id of the payment concerned: gateway A pay_…, gateway B the payment intent pi_…, else the charge; handed back at the box office: the order.';
COMMENT ON COLUMN finance.refunds.purpose IS 'subscription or order. The finance dashboard counts subscription alone.';
COMMENT ON COLUMN finance.refunds.subscription_id IS 'The subscription (finance.subscriptions); null when it is not about one.';
COMMENT ON COLUMN finance.refunds.order_id IS 'The ticket order (finance.orders); null when it is not about one.';
COMMENT ON COLUMN finance.refunds.customer_id IS 'The customer (finance.customers); stays when they are deleted.';
COMMENT ON COLUMN finance.refunds.amount_cents IS 'What is given back, cents.';
COMMENT ON COLUMN finance.refunds.status IS 'requested, pending, done or failed.';
COMMENT ON COLUMN finance.refunds.is_done IS 'The money counts as given back. Only these rows enter totals.';
COMMENT ON COLUMN finance.refunds.event_id IS 'REFUND-… of one asked for here, else the gateways event.';
COMMENT ON COLUMN finance.refunds.event_type IS 'What reported it.';
COMMENT ON COLUMN finance.refunds.requested_at IS 'Instant, UTC.';
COMMENT ON COLUMN finance.refunds.refunded_at IS 'When the money counted as given back, UTC; null before.';
COMMENT ON COLUMN finance.refunds.refunded_on IS 'Day of refunded_at in the report time zone.';
COMMENT ON COLUMN finance.refunds.source IS 'admin: asked for here by an admin; platform: asked for here by itself, or because a customer withdrew; gateway: learned from the gateway.';
