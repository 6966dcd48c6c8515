CREATE OR REPLACE VIEW finance.chargebacks AS
SELECT c.dispute_id, c.gateway, c.purpose, c.subscription_id, c.order_id, c.customer_id, c.kind, c.amount_cents,
    c.at, (c.at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS day
FROM (
    SELECT d.dispute_id, d.gateway, d.purpose, d.subscription_id, d.order_id, d.customer_id, 'taken'::text AS kind, d.amount_cents, d.opened_at AS at
    FROM finance.disputes d WHERE d.state IN ('open', 'won', 'lost')
    UNION ALL
    SELECT d.dispute_id, d.gateway, d.purpose, d.subscription_id, d.order_id, d.customer_id, 'given_back'::text, -d.amount_cents, d.closed_at
    FROM finance.disputes d WHERE d.state = 'won'
) c;
COMMENT ON VIEW finance.chargebacks IS 'Money moved by disputes, one row a movement: taken when a dispute opens, given back when it is won. Sums of amount_cents are chargebacks. Source: finance.disputes in the states open, won and lost.';
COMMENT ON COLUMN finance.chargebacks.dispute_id IS 'The dispute (finance.disputes).';
COMMENT ON COLUMN finance.chargebacks.gateway IS 'gwa or gwb.';
COMMENT ON COLUMN finance.chargebacks.purpose IS 'subscription or order. The finance dashboard counts subscription alone.';
COMMENT ON COLUMN finance.chargebacks.subscription_id IS 'The subscription (finance.subscriptions); null when it is not about one.';
COMMENT ON COLUMN finance.chargebacks.order_id IS 'The ticket order (finance.orders); null when it is not about one.';
COMMENT ON COLUMN finance.chargebacks.customer_id IS 'The customer (finance.customers); stays when they are deleted.';
COMMENT ON COLUMN finance.chargebacks.kind IS 'taken or given_back.';
COMMENT ON COLUMN finance.chargebacks.amount_cents IS 'Cents; negative when given back.';
COMMENT ON COLUMN finance.chargebacks.at IS 'opened_at when taken, closed_at when given back, UTC.';
COMMENT ON COLUMN finance.chargebacks.day IS 'Day of at in the report time zone.';
