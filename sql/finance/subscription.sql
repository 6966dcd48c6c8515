-- name: SubscriptionDashboardGet :one
SELECT json_build_object(
    'totals', json_build_object('active', t.active, 'pending', t.pending, 'suspended', t.suspended, 'cancelled', t.cancelled, 'expired', t.expired),
    'by_gateway', (SELECT json_object_agg(g.gateway, json_build_object('count', g.active, 'mrr', g.mrr)) FROM (
        SELECT k.gateway, coalesce(sum(m.active_subscriptions), 0)::bigint AS active, coalesce(sum(m.mrr_cents), 0)::bigint AS mrr
        FROM (SELECT 'gwa'::text AS gateway UNION ALL SELECT 'gwb'::text) k LEFT JOIN finance.mrr m ON m.gateway = k.gateway
        GROUP BY k.gateway ORDER BY k.gateway) g),
    'by_payment_method', (SELECT coalesce(json_object_agg(g.payment_method, json_build_object('count', g.active, 'mrr', g.mrr)), '{}') FROM (
        SELECT m.payment_method, sum(m.active_subscriptions)::bigint AS active, sum(m.mrr_cents)::bigint AS mrr
        FROM finance.mrr m GROUP BY m.payment_method HAVING sum(m.active_subscriptions) > 0 ORDER BY m.payment_method) g),
    'by_plan', (SELECT coalesce(json_object_agg(g.plan_id, json_build_object('count', g.active, 'mrr', g.mrr, 'name', g.plan_name)), '{}') FROM (
        SELECT m.plan_id, m.plan_name, sum(m.active_subscriptions)::bigint AS active, sum(m.mrr_cents)::bigint AS mrr
        FROM finance.mrr m GROUP BY m.plan_id, m.plan_name HAVING sum(m.active_subscriptions) > 0 ORDER BY m.plan_id) g),
    'mrr', o.mrr_cents,
    'new_30d', (SELECT coalesce(sum(d.entries), 0)::bigint FROM finance.daily d CROSS JOIN finance.clock c WHERE d.day >= c.today - 30)
        - (SELECT coalesce(sum(r.returns), 0)::bigint FROM finance.returns r CROSS JOIN finance.clock c WHERE r.day >= c.today - 30 AND r.left_day >= c.today - 30),
    'cancelled_30d', o.exits_30d,
    'pending_pix', t.pending_pix,
    'recent', (SELECT coalesce(json_agg(json_build_object(
            '_id', s.subscription_id, 'customer_id', s.customer_id, 'username', coalesce(c.username, ''), 'email', coalesce(c.email, ''),
            'full_name', coalesce(c.full_name, ''), 'plan_id', s.plan_id, 'plan_name', s.plan_name, 'gateway', s.gateway, 'payment_method', s.payment_method,
            'status', s.status, 'amount', s.price_cents, 'started_at', platform.json_time(s.started_at), 'created_at', platform.json_time(s.created_at)
        ) ORDER BY s.created_at DESC, s.subscription_id), '[]')
        FROM (SELECT * FROM finance.subscriptions ORDER BY created_at DESC, subscription_id LIMIT 10) s
        LEFT JOIN finance.customers_personal c ON c.customer_id = s.customer_id)
)::json AS report
FROM finance.overview o
CROSS JOIN (
    SELECT count(*) FILTER (WHERE status = 'active') AS active, count(*) FILTER (WHERE status = 'pending') AS pending,
        count(*) FILTER (WHERE status = 'suspended') AS suspended, count(*) FILTER (WHERE status = 'cancelled') AS cancelled,
        count(*) FILTER (WHERE status = 'expired') AS expired, count(*) FILTER (WHERE status = 'pending' AND payment_method = 'pix') AS pending_pix
    FROM finance.subscriptions
) t;

-- name: SubscriptionInsightsGet :one
-- The window is the last months, the present one among them.
WITH span AS MATERIALIZED (
    SELECT m.first_day, m.first_day::timestamp AT TIME ZONE m.report_tz AS first_at, m.last_month
    FROM (SELECT (date_trunc('month', c.today::timestamp) - make_interval(months => sqlc.arg('months')::int - 1))::date AS first_day,
        date_trunc('month', c.today::timestamp)::date AS last_month, c.report_tz FROM finance.clock c) m
), stay AS MATERIALIZED (
    SELECT avg(t.access_days) AS days, count(*) AS customers FROM finance.tenure t
)
SELECT json_build_object(
    'cohorts', (SELECT coalesce(json_agg(json_build_object('month', to_char(k.cohort_month, 'YYYY-MM'), 'customers', k.customers, 'retained', k.retained)
            ORDER BY k.cohort_month), '[]')
        FROM (SELECT c.cohort_month, c.customers, json_agg(c.retained_pct ORDER BY c.months_since) AS retained
            FROM finance.cohorts c WHERE c.cohort_month >= span.first_day GROUP BY c.cohort_month, c.customers) k),
    'average_lifetime_days', (SELECT coalesce(round(s.days, 2), 0) FROM stay s),
    'ltv', coalesce(round((SELECT sum(d.gross_gwa_cents + d.gross_gwb_cents - d.refunds_cents - d.chargebacks_cents) FROM finance.daily d)::numeric
        / nullif((SELECT s.customers FROM stay s), 0)), 0)::bigint,
    'reactivations', (SELECT coalesce(sum(m.new_customers), 0)::bigint FROM finance.churn_monthly m WHERE m.month >= span.first_day)
        - (SELECT coalesce(sum(c.customers), 0)::bigint FROM finance.cohort_months c WHERE c.cohort_month >= span.first_day),
    'upgrades', (SELECT count(*) FROM finance.plan_moves p WHERE p.is_upgrade AND p.at >= span.first_at),
    'failed_payments', (SELECT json_agg(json_build_object('month', to_char(k.month, 'YYYY-MM'), 'count', k.failed, 'recovered', k.recovered) ORDER BY k.month)
        FROM (SELECT g.month, count(f.failed_attempt_id) AS failed, count(f.recovered_at) AS recovered
            FROM generate_series(span.first_day::timestamp, span.last_month::timestamp, interval '1 month') AS g (month)
            LEFT JOIN (SELECT * FROM finance.subscription_failures x WHERE x.failed_at >= span.first_at) f ON date_trunc('month', f.failed_on::timestamp) = g.month
            GROUP BY g.month) k),
    'at_risk', (SELECT coalesce(json_agg(json_build_object(
            'customer_id', p.customer_id, 'username', coalesce(c.username, ''), 'email', coalesce(c.email, ''), 'full_name', coalesce(c.full_name, ''),
            'plan_id', p.plan_id, 'plan_name', p.plan_name, 'gateway', p.gateway, 'payment_method', p.payment_method, 'payment_failures', p.payment_failures,
            'last_payment_at', platform.json_time(p.last_payment_at), 'next_billing_date', platform.json_time(p.next_billing_date),
            'days_overdue', p.days_overdue, 'subscription_status', p.subscription_status, 'amount', p.amount_cents
        ) ORDER BY p.days_overdue DESC, p.subscription_id), '[]')
        FROM (SELECT * FROM finance.overdue ORDER BY days_overdue DESC, subscription_id LIMIT 20) p
        LEFT JOIN finance.customers_personal c ON c.customer_id = p.customer_id)
)::json AS report
FROM span;
