CREATE OR REPLACE VIEW finance.plans AS
SELECT p.plan_id, p.name AS plan_name, p.amount_cents, p.tier, CASE WHEN p.trial_enabled THEN p.trial_days ELSE 0 END AS trial_days, p.is_active,
    p.register_date AS created_at
FROM subscriptions.plans p;
COMMENT ON VIEW finance.plans IS 'Plans of subscriptions, one row a plan. Source: subscriptions.plans.';
COMMENT ON COLUMN finance.plans.plan_id IS 'The plans text id (finance.plans).';
COMMENT ON COLUMN finance.plans.plan_name IS 'The plans present name.';
COMMENT ON COLUMN finance.plans.amount_cents IS 'Present price of one month in cents, for new subscriptions.';
COMMENT ON COLUMN finance.plans.tier IS '1 basic, 2 plus, 3 premium.';
COMMENT ON COLUMN finance.plans.trial_days IS 'Free days that a customers first subscription begins with; 0 for none.';
COMMENT ON COLUMN finance.plans.is_active IS 'Can be subscribed to.';
COMMENT ON COLUMN finance.plans.created_at IS 'Instant, UTC.';
