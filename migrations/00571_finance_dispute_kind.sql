-- +goose Up
CREATE OR REPLACE VIEW finance.disputes AS
SELECT d.id AS dispute_id, d.gateway, d.gateway_dispute_id, d.payment_ref, d.purpose,
    CASE WHEN d.purpose = 'subscription' THEN d.local_id END::text AS subscription_id, CASE WHEN d.purpose = 'order' THEN d.local_id END::text AS order_id,
    d.customer_id, d.amount_cents, d.state, CASE WHEN d.native_status <> 'reported_by_admin' THEN d.reason END AS reason,
    d.opened_at, (d.opened_at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS opened_on,
    d.closed_at, (d.closed_at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS closed_on,
    d.kind::text AS kind
FROM payments.disputes d;
COMMENT ON COLUMN finance.disputes.kind IS 'chargeback (of a card) or med (the payers bank took a PIX back).';

-- +goose Down
-- A view cannot lose a column while others read it: it tells nothing then.
CREATE OR REPLACE VIEW finance.disputes AS
SELECT d.id AS dispute_id, d.gateway, d.gateway_dispute_id, d.payment_ref, d.purpose,
    CASE WHEN d.purpose = 'subscription' THEN d.local_id END::text AS subscription_id, CASE WHEN d.purpose = 'order' THEN d.local_id END::text AS order_id,
    d.customer_id, d.amount_cents, d.state, CASE WHEN d.native_status <> 'reported_by_admin' THEN d.reason END AS reason,
    d.opened_at, (d.opened_at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS opened_on,
    d.closed_at, (d.closed_at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS closed_on,
    NULL::text AS kind
FROM payments.disputes d;
