CREATE OR REPLACE VIEW finance.disputes AS
SELECT d.id AS dispute_id, d.gateway, d.gateway_dispute_id, d.payment_ref, d.purpose,
    CASE WHEN d.purpose = 'subscription' THEN d.local_id END::text AS subscription_id, CASE WHEN d.purpose = 'order' THEN d.local_id END::text AS order_id,
    d.customer_id, d.amount_cents, d.state, CASE WHEN d.native_status <> 'reported_by_admin' THEN d.reason END AS reason,
    d.opened_at, (d.opened_at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS opened_on,
    d.closed_at, (d.closed_at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS closed_on,
    d.kind::text AS kind
FROM payments.disputes d;
COMMENT ON VIEW finance.disputes IS 'Disputes (chargebacks), one row each. Source: payments.disputes.';
COMMENT ON COLUMN finance.disputes.dispute_id IS 'Key.';
COMMENT ON COLUMN finance.disputes.gateway IS 'gwa or gwb.';
COMMENT ON COLUMN finance.disputes.gateway_dispute_id IS 'The gateways id; CHARGEBACK-… of one that an admin entered.';
COMMENT ON COLUMN finance.disputes.payment_ref IS 'The gateways id of the payment concerned: gateway A pay_…, gateway B the payment intent pi_…, else the charge.';
COMMENT ON COLUMN finance.disputes.purpose IS 'subscription or order. The finance dashboard counts subscription alone.';
COMMENT ON COLUMN finance.disputes.subscription_id IS 'The subscription (finance.subscriptions); null when it is not about one.';
COMMENT ON COLUMN finance.disputes.order_id IS 'The ticket order (finance.orders); null when it is not about one.';
COMMENT ON COLUMN finance.disputes.customer_id IS 'The customer (finance.customers); stays when they are deleted.';
COMMENT ON COLUMN finance.disputes.amount_cents IS 'Disputed amount, cents.';
COMMENT ON COLUMN finance.disputes.reason IS 'The gateways word; null for disputes entered by hand, whose text is free.';
COMMENT ON COLUMN finance.disputes.opened_at IS 'Instant, UTC.';
COMMENT ON COLUMN finance.disputes.opened_on IS 'Day of opened_at in the report time zone.';
COMMENT ON COLUMN finance.disputes.closed_at IS 'When it was decided; null while it is not.';
COMMENT ON COLUMN finance.disputes.closed_on IS 'Day of closed_at in the report time zone.';
COMMENT ON COLUMN finance.disputes.kind IS 'chargeback (of a card) or med (the payers bank took a PIX back).';
COMMENT ON COLUMN finance.disputes.state IS 'inquiry (asked, no money taken), open (money taken), won (given back), lost, dismissed (an inquiry that came to nothing), withdrawn (entered by an admin by mistake: it counts nowhere).';
