CREATE OR REPLACE VIEW finance.standing AS
SELECT f.gateway, f.payment_method, f.plan_id,
    sum(f.active)::bigint AS active,
    sum(f.mrr_cents)::bigint AS mrr_cents,
    sum(f.trials)::bigint AS trials,
    sum(f.trial_mrr_cents)::bigint AS trial_mrr_cents,
    sum(f.overdue)::bigint AS overdue,
    sum(f.at_risk_cents)::bigint AS at_risk_cents,
    sum(f.customers)::bigint AS customers
FROM (
    SELECT gateway, payment_method, plan_id, active, mrr_cents, trials, trial_mrr_cents, overdue, at_risk_cents, customers FROM finance.standing_rollup
    UNION ALL
    SELECT gateway, payment_method, plan_id, active, mrr_cents, trials, trial_mrr_cents, overdue, at_risk_cents, customers FROM finance.standing_deltas
    UNION ALL
    SELECT s.gateway, s.payment_method, s.plan_id, -1, -s.price_cents, -t.trial, -t.trial * s.price_cents, 0, 0, 0
    FROM subscriptions.subscriptions s
    CROSS JOIN LATERAL (SELECT (s.trial_days > 0 AND s.last_payment_at IS NULL)::int AS trial) t
    WHERE s.status = 'active' AND s.expires_at IS NOT NULL AND s.expires_at <= finance.now()
) f
GROUP BY f.gateway, f.payment_method, f.plan_id;
COMMENT ON VIEW finance.standing IS 'Present figures by gateway, payment method and plan, exact at any moment: the rollup, what is not folded yet, less what has expired by its date.';
COMMENT ON COLUMN finance.standing.gateway IS 'gwa or gwb; empty in the row that counts customers.';
COMMENT ON COLUMN finance.standing.payment_method IS 'credit_card, pix or boleto; empty likewise.';
COMMENT ON COLUMN finance.standing.plan_id IS 'The plan; empty likewise.';
COMMENT ON COLUMN finance.standing.active IS 'Active subscriptions as of finance.now().';
COMMENT ON COLUMN finance.standing.mrr_cents IS 'Sum of their monthly prices, cents.';
COMMENT ON COLUMN finance.standing.trials IS 'Of them, trials.';
COMMENT ON COLUMN finance.standing.trial_mrr_cents IS 'Monthly prices of the trials, cents; part of mrr_cents.';
COMMENT ON COLUMN finance.standing.overdue IS 'Overdue subscriptions.';
COMMENT ON COLUMN finance.standing.at_risk_cents IS 'Sum of their monthly prices, cents.';
COMMENT ON COLUMN finance.standing.customers IS 'Customers that are not deleted; in the row of empty texts alone.';
