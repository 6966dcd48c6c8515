-- The plan before comes from the index alone; what admins moved is joined to it.
CREATE OR REPLACE VIEW finance.plan_moves AS
SELECT m.customer_id, m.subscription_id, m.at, (m.at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS day, m.source,
    a.plan_id AS from_plan_id, b.plan_id AS to_plan_id, b.tier > a.tier AS is_upgrade, b.tier < a.tier AS is_downgrade
FROM (
    SELECT w.customer_id, w.subscription_id, w.at, 'subscription'::text AS source, w.from_plan, coalesce(f.plan_id, w.plan) AS to_plan
    FROM (
        SELECT s.customer_id::text AS customer_id, s.id::text AS subscription_id, s.started_at AS at, s.plan_id AS plan,
            lag(s.plan_id) OVER (PARTITION BY s.customer_id ORDER BY s.started_at, s.id) AS from_plan
        FROM subscriptions.subscriptions s
        WHERE s.started_at IS NOT NULL
    ) w
    LEFT JOIN (
        SELECT DISTINCT ON (l.record_id) l.record_id, l.before ->> 'plan_id' AS plan_id
        FROM accounts.audit_log l
        WHERE l.resource = 'subscriptions' AND l.before ? 'plan_id' AND l.after ? 'plan_id' AND l.erased_at IS NULL
        ORDER BY l.record_id, l.at, l.id
    ) f ON f.record_id = w.subscription_id
    UNION ALL
    SELECT s.customer_id::text, s.id::text, l.at, 'admin', l.before ->> 'plan_id', l.after ->> 'plan_id'
    FROM accounts.audit_log l
    JOIN subscriptions.subscriptions s ON s.id = l.record_id
    WHERE l.resource = 'subscriptions' AND l.before ? 'plan_id' AND l.after ? 'plan_id' AND l.erased_at IS NULL
) m
JOIN subscriptions.plans a ON a.plan_id = m.from_plan
JOIN subscriptions.plans b ON b.plan_id = m.to_plan
WHERE m.from_plan <> m.to_plan;
COMMENT ON VIEW finance.plan_moves IS 'Customers who changed their plan: one row a move, by subscribing anew or by an admin. Source: subscriptions.subscriptions, accounts.audit_log.';
COMMENT ON COLUMN finance.plan_moves.customer_id IS 'The customer (finance.customers); stays when they are deleted.';
COMMENT ON COLUMN finance.plan_moves.subscription_id IS 'The subscription that has the new plan (finance.subscriptions).';
COMMENT ON COLUMN finance.plan_moves.at IS 'When it started, or the admin moved it, UTC.';
COMMENT ON COLUMN finance.plan_moves.day IS 'Day of at in the report time zone.';
COMMENT ON COLUMN finance.plan_moves.source IS 'subscription (the customer subscribed anew or renewed) or admin.';
COMMENT ON COLUMN finance.plan_moves.from_plan_id IS 'The plan before (finance.plans).';
COMMENT ON COLUMN finance.plan_moves.to_plan_id IS 'The plan after.';
COMMENT ON COLUMN finance.plan_moves.is_upgrade IS 'Its tier is higher.';
COMMENT ON COLUMN finance.plan_moves.is_downgrade IS 'Its tier is lower.';
