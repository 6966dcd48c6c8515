CREATE OR REPLACE VIEW finance.mrr AS
SELECT s.gateway, s.payment_method, s.plan_id, p.name AS plan_name, s.active AS active_subscriptions, s.mrr_cents, s.trials, s.trial_mrr_cents,
    s.overdue AS overdue_subscriptions, s.at_risk_cents
FROM finance.standing s
JOIN subscriptions.plans p ON p.plan_id = s.plan_id
WHERE s.active <> 0 OR s.overdue <> 0;
COMMENT ON VIEW finance.mrr IS 'Present monthly recurring revenue, one row a gateway, payment method and plan; exact at any moment. A yearly PIX counts its monthly price once; the first-month discount does not lower it. Source: finance.standing.';
COMMENT ON COLUMN finance.mrr.gateway IS 'gwa or gwb.';
COMMENT ON COLUMN finance.mrr.payment_method IS 'credit_card, pix or boleto.';
COMMENT ON COLUMN finance.mrr.plan_id IS 'The plan.';
COMMENT ON COLUMN finance.mrr.plan_name IS 'Its present name.';
COMMENT ON COLUMN finance.mrr.active_subscriptions IS 'Active subscriptions, trials among them.';
COMMENT ON COLUMN finance.mrr.mrr_cents IS 'Sum of their monthly prices as they were sold, cents.';
COMMENT ON COLUMN finance.mrr.trials IS 'Of them, trials: nothing has been paid yet.';
COMMENT ON COLUMN finance.mrr.trial_mrr_cents IS 'Monthly prices of the trials, cents; part of mrr_cents.';
COMMENT ON COLUMN finance.mrr.overdue_subscriptions IS 'Overdue subscriptions, active or suspended.';
COMMENT ON COLUMN finance.mrr.at_risk_cents IS 'Sum of their monthly prices, cents.';
