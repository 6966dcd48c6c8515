-- +goose Up
CREATE VIEW finance.subscription_failures AS
SELECT f.id AS failed_attempt_id, f.local_id AS subscription_id, f.gateway, f.amount_cents, f.failed_at,
    (f.failed_at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS failed_on,
    (SELECT min(p.settled_at) FROM payments.payments p
     WHERE p.purpose = 'subscription' AND p.local_id = f.local_id AND p.settled_at > f.failed_at AND p.settled_at <= f.failed_at + interval '30 days') AS recovered_at
FROM payments.failed_attempts f
WHERE f.purpose = 'subscription';
COMMENT ON VIEW finance.subscription_failures IS 'Failed attempts of subscription payments, and whether the money came after all. Source: payments.failed_attempts, payments.payments.';
COMMENT ON COLUMN finance.subscription_failures.failed_attempt_id IS 'Key, as in finance.failed_attempts.';
COMMENT ON COLUMN finance.subscription_failures.subscription_id IS 'The subscription (finance.subscriptions).';
COMMENT ON COLUMN finance.subscription_failures.gateway IS 'gwa or gwb.';
COMMENT ON COLUMN finance.subscription_failures.amount_cents IS 'What was to be paid, cents.';
COMMENT ON COLUMN finance.subscription_failures.failed_at IS 'Instant, UTC.';
COMMENT ON COLUMN finance.subscription_failures.failed_on IS 'Day of failed_at in the report time zone.';
COMMENT ON COLUMN finance.subscription_failures.recovered_at IS 'The next settled payment of the subscription within 30 days, UTC; null when there is none.';

CREATE VIEW finance.plan_moves AS
SELECT m.customer_id, m.subscription_id, m.at, (m.at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS day, m.source,
    a.plan_id AS from_plan_id, b.plan_id AS to_plan_id, b.tier > a.tier AS is_upgrade, b.tier < a.tier AS is_downgrade
FROM (
    SELECT s.customer_id::text AS customer_id, s.id::text AS subscription_id, s.started_at AS at, 'subscription'::text AS source,
        lag(s.plan_id) OVER (PARTITION BY s.customer_id ORDER BY s.started_at, s.id) AS from_plan, coalesce(f.plan_id, s.plan_id) AS to_plan
    FROM subscriptions.subscriptions s
    LEFT JOIN (
        SELECT DISTINCT ON (l.record_id) l.record_id, l.before ->> 'plan_id' AS plan_id
        FROM accounts.audit_log l
        WHERE l.resource = 'subscriptions' AND l.before ? 'plan_id' AND l.after ? 'plan_id' AND l.erased_at IS NULL
        ORDER BY l.record_id, l.at, l.id
    ) f ON f.record_id = s.id
    WHERE s.started_at IS NOT NULL
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
COMMENT ON COLUMN finance.plan_moves.customer_id IS 'The customer (finance.customers); stays when he is deleted.';
COMMENT ON COLUMN finance.plan_moves.subscription_id IS 'The subscription that has the new plan (finance.subscriptions).';
COMMENT ON COLUMN finance.plan_moves.at IS 'When it started, or the admin moved it, UTC.';
COMMENT ON COLUMN finance.plan_moves.day IS 'Day of at in the report time zone.';
COMMENT ON COLUMN finance.plan_moves.source IS 'subscription (the customer subscribed anew or renewed) or admin.';
COMMENT ON COLUMN finance.plan_moves.from_plan_id IS 'The plan before (finance.plans).';
COMMENT ON COLUMN finance.plan_moves.to_plan_id IS 'The plan after.';
COMMENT ON COLUMN finance.plan_moves.is_upgrade IS 'Its tier is higher.';
COMMENT ON COLUMN finance.plan_moves.is_downgrade IS 'Its tier is lower.';

SELECT finance.grant_analysts();

-- +goose Down
DROP VIEW finance.plan_moves;
DROP VIEW finance.subscription_failures;
