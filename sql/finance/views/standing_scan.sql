CREATE OR REPLACE VIEW finance_internal.standing_scan AS
SELECT s.gateway, s.payment_method, s.plan_id,
    count(*) FILTER (WHERE s.is_active) AS active, coalesce(sum(s.price_cents) FILTER (WHERE s.is_active), 0)::bigint AS mrr_cents,
    count(*) FILTER (WHERE s.is_trial) AS trials, coalesce(sum(s.price_cents) FILTER (WHERE s.is_trial), 0)::bigint AS trial_mrr_cents,
    count(*) FILTER (WHERE s.is_overdue) AS overdue, coalesce(sum(s.price_cents) FILTER (WHERE s.is_overdue), 0)::bigint AS at_risk_cents, 0::bigint AS customers
FROM finance.subscriptions s
GROUP BY s.gateway, s.payment_method, s.plan_id
UNION ALL
SELECT '', '', '', 0, 0, 0, 0, 0, 0, count(*) FROM finance.customers c WHERE NOT c.is_deleted;
COMMENT ON VIEW finance_internal.standing_scan IS 'The same as finance.standing, counted from finance.subscriptions and finance.customers: slow, for checks.';
COMMENT ON COLUMN finance_internal.standing_scan.gateway IS 'gwa or gwb; empty in the row that counts customers.';
COMMENT ON COLUMN finance_internal.standing_scan.payment_method IS 'credit_card, pix or boleto; empty likewise.';
COMMENT ON COLUMN finance_internal.standing_scan.plan_id IS 'The plan; empty likewise.';
COMMENT ON COLUMN finance_internal.standing_scan.active IS 'Active subscriptions as of finance.now().';
COMMENT ON COLUMN finance_internal.standing_scan.mrr_cents IS 'Sum of their monthly prices, cents.';
COMMENT ON COLUMN finance_internal.standing_scan.trials IS 'Of them, trials.';
COMMENT ON COLUMN finance_internal.standing_scan.trial_mrr_cents IS 'Monthly prices of the trials, cents; part of mrr_cents.';
COMMENT ON COLUMN finance_internal.standing_scan.overdue IS 'Overdue subscriptions.';
COMMENT ON COLUMN finance_internal.standing_scan.at_risk_cents IS 'Sum of their monthly prices, cents.';
COMMENT ON COLUMN finance_internal.standing_scan.customers IS 'Customers that are not deleted; in the row of empty texts alone.';
