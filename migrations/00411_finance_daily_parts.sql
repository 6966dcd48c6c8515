-- +goose Up
-- Sums of sums are the same figures: what is read over a period need not be put
-- together by day first, nor the instant be judged once a day.
CREATE VIEW finance.daily_parts AS
SELECT day,
    gross_gwa_cents, gross_gwb_cents, payments, failed_attempts, refunds_cents, chargebacks_cents, entries, exits_payment_failure,
    exits_customer_cancelled, exits_admin_cancelled, exits_chargeback, exits_expired, returned_in_day, returned_in_month_payment_failure,
    returned_in_month_customer_cancelled, returned_in_month_admin_cancelled, returned_in_month_chargeback, returned_in_month_expired
FROM finance.daily_rollup
UNION ALL
SELECT day,
    gross_gwa_cents, gross_gwb_cents, payments, failed_attempts, refunds_cents, chargebacks_cents, entries, exits_payment_failure,
    exits_customer_cancelled, exits_admin_cancelled, exits_chargeback, exits_expired, returned_in_day, returned_in_month_payment_failure,
    returned_in_month_customer_cancelled, returned_in_month_admin_cancelled, returned_in_month_chargeback, returned_in_month_expired
FROM finance.daily_unfolded
UNION ALL
SELECT (greatest(s.expires_at, e.at) AT TIME ZONE z.report_tz)::date,
    0, 0, 0, 0, 0, 0, 0, 0, CASE WHEN s.cancel_at_period_end THEN 1 ELSE 0 END, 0, 0, CASE WHEN s.cancel_at_period_end THEN 0 ELSE 1 END, 0, 0, 0, 0, 0, 0
FROM finance.settings z CROSS JOIN subscriptions.subscriptions s
JOIN LATERAL (SELECT t.at FROM subscriptions.transitions t WHERE t.subscription_id = s.id AND t.to_status = 'active' ORDER BY t.id DESC LIMIT 1) e ON true
WHERE s.status = 'active' AND s.expires_at IS NOT NULL AND s.expires_at <= finance.now();

CREATE OR REPLACE VIEW finance.daily AS
SELECT f.day,
    sum(f.gross_gwa_cents)::bigint AS gross_gwa_cents,
    sum(f.gross_gwb_cents)::bigint AS gross_gwb_cents,
    sum(f.payments)::bigint AS payments,
    sum(f.failed_attempts)::bigint AS failed_attempts,
    sum(f.refunds_cents)::bigint AS refunds_cents,
    sum(f.chargebacks_cents)::bigint AS chargebacks_cents,
    sum(f.entries)::bigint AS entries,
    sum(f.exits_payment_failure)::bigint AS exits_payment_failure,
    sum(f.exits_customer_cancelled)::bigint AS exits_customer_cancelled,
    sum(f.exits_admin_cancelled)::bigint AS exits_admin_cancelled,
    sum(f.exits_chargeback)::bigint AS exits_chargeback,
    sum(f.exits_expired)::bigint AS exits_expired,
    sum(f.returned_in_day)::bigint AS returned_in_day,
    sum(f.returned_in_month_payment_failure)::bigint AS returned_in_month_payment_failure,
    sum(f.returned_in_month_customer_cancelled)::bigint AS returned_in_month_customer_cancelled,
    sum(f.returned_in_month_admin_cancelled)::bigint AS returned_in_month_admin_cancelled,
    sum(f.returned_in_month_chargeback)::bigint AS returned_in_month_chargeback,
    sum(f.returned_in_month_expired)::bigint AS returned_in_month_expired
FROM finance.daily_parts f
GROUP BY f.day;

CREATE OR REPLACE VIEW finance.overview AS
SELECT n.mrr_cents, n.mrr_gwa_cents, n.mrr_gwb_cents, n.trial_mrr_cents, n.mrr_cents * 12 AS arr_cents,
    CASE WHEN n.active = 0 THEN 0 ELSE round(n.mrr_cents::numeric / n.active) END::bigint AS average_ticket_cents,
    n.active AS active_subscriptions, n.trials, n.customers AS total_customers, n.overdue AS overdue_count, n.at_risk_cents AS amount_at_risk_cents,
    d.exits_30d - r.returns_30d AS exits_30d, d.active_30d_ago,
    CASE WHEN d.active_30d_ago = 0 THEN 0 ELSE round(100.0 * (d.exits_30d - r.returns_30d) / d.active_30d_ago, 2) END::numeric AS churn_rate_30d,
    d.total_refunded_cents, d.total_chargebacks_cents, d.gross_30d_cents, d.refunds_30d_cents, d.chargebacks_30d_cents,
    n.mrr_cents - d.refunds_30d_cents AS net_revenue_30d_cents, d.gross_30d_cents - d.refunds_30d_cents - d.chargebacks_30d_cents AS cash_net_30d_cents,
    d.payments_30d, d.failed_attempts_30d,
    CASE WHEN d.payments_30d + d.failed_attempts_30d = 0 THEN 0
         ELSE round(100.0 * d.payments_30d / (d.payments_30d + d.failed_attempts_30d), 2) END::numeric AS payment_success_rate
FROM (
    SELECT coalesce(sum(s.mrr_cents), 0)::bigint AS mrr_cents,
        coalesce(sum(s.mrr_cents) FILTER (WHERE s.gateway = 'gwa'), 0)::bigint AS mrr_gwa_cents,
        coalesce(sum(s.mrr_cents) FILTER (WHERE s.gateway = 'gwb'), 0)::bigint AS mrr_gwb_cents,
        coalesce(sum(s.trial_mrr_cents), 0)::bigint AS trial_mrr_cents, coalesce(sum(s.active), 0)::bigint AS active, coalesce(sum(s.trials), 0)::bigint AS trials,
        coalesce(sum(s.overdue), 0)::bigint AS overdue, coalesce(sum(s.at_risk_cents), 0)::bigint AS at_risk_cents, coalesce(sum(s.customers), 0)::bigint AS customers
    FROM finance.standing s
) n
CROSS JOIN (
    SELECT coalesce(sum(f.refunds_cents), 0)::bigint AS total_refunded_cents, coalesce(sum(f.chargebacks_cents), 0)::bigint AS total_chargebacks_cents,
        coalesce(sum(f.gross_gwa_cents + f.gross_gwb_cents) FILTER (WHERE f.day >= c.since), 0)::bigint AS gross_30d_cents,
        coalesce(sum(f.refunds_cents) FILTER (WHERE f.day >= c.since), 0)::bigint AS refunds_30d_cents,
        coalesce(sum(f.chargebacks_cents) FILTER (WHERE f.day >= c.since), 0)::bigint AS chargebacks_30d_cents,
        coalesce(sum(f.payments) FILTER (WHERE f.day >= c.since), 0)::bigint AS payments_30d,
        coalesce(sum(f.failed_attempts) FILTER (WHERE f.day >= c.since), 0)::bigint AS failed_attempts_30d,
        coalesce(sum(f.exits_payment_failure + f.exits_customer_cancelled + f.exits_admin_cancelled + f.exits_chargeback + f.exits_expired)
            FILTER (WHERE f.day >= c.since), 0)::bigint AS exits_30d,
        coalesce(sum(f.entries - f.exits_payment_failure - f.exits_customer_cancelled - f.exits_admin_cancelled - f.exits_chargeback - f.exits_expired)
            FILTER (WHERE f.day < c.since), 0)::bigint AS active_30d_ago
    FROM finance.daily_parts f CROSS JOIN (SELECT k.today - 30 AS since FROM finance.clock k OFFSET 0) c
) d
CROSS JOIN (
    SELECT coalesce(sum(b.returns), 0)::bigint AS returns_30d
    FROM finance.returns b CROSS JOIN (SELECT k.today - 30 AS since FROM finance.clock k OFFSET 0) c
    WHERE b.day >= c.since AND b.left_day >= c.since
) r;

CREATE OR REPLACE VIEW finance.revenue_daily AS
SELECT p.day, sum(p.gross_gwa_cents + p.gross_gwb_cents)::bigint AS gross_cents, sum(p.gross_gwa_cents)::bigint AS gross_gwa_cents, sum(p.gross_gwb_cents)::bigint AS gross_gwb_cents,
    sum(p.refunds_cents)::bigint AS refunds_cents, sum(p.chargebacks_cents)::bigint AS chargebacks_cents,
    sum(p.gross_gwa_cents + p.gross_gwb_cents - p.refunds_cents - p.chargebacks_cents)::bigint AS net_cents,
    sum(p.entries - p.returned_in_day)::bigint AS new_subscriptions,
    sum(p.exits - p.returned_in_day)::bigint AS cancellations
FROM (
    SELECT d.day, d.gross_gwa_cents, d.gross_gwb_cents, d.refunds_cents, d.chargebacks_cents, d.entries, d.returned_in_day,
        d.exits_payment_failure + d.exits_customer_cancelled + d.exits_admin_cancelled + d.exits_chargeback + d.exits_expired AS exits
    FROM finance.daily_parts d
    UNION ALL
    SELECT g.day::date, 0, 0, 0, 0, 0, 0, 0
    FROM (SELECT min(b.day) AS first_day, max(b.day) AS last_day FROM finance.daily_parts b) e CROSS JOIN finance.clock c
    CROSS JOIN LATERAL generate_series(e.first_day::timestamp, greatest(c.today, e.last_day)::timestamp, interval '1 day') AS g (day)
) p
GROUP BY p.day;

CREATE OR REPLACE VIEW finance.churn_monthly AS
SELECT m.month, (sum(m.entries - m.exits) OVER w - m.entries + m.exits)::bigint AS active_start,
    m.entries - m.returned AS new_customers, m.exits - m.returned AS cancelled,
    (sum(m.entries - m.exits) OVER w)::bigint AS active_end,
    CASE WHEN sum(m.entries - m.exits) OVER w - m.entries + m.exits = 0 THEN 0
         ELSE round(100.0 * (m.exits - m.returned) / (sum(m.entries - m.exits) OVER w - m.entries + m.exits), 2) END::numeric AS churn_rate,
    m.payment_failure, m.customer_cancelled, m.admin_cancelled, m.chargeback, m.expired
FROM (
    SELECT k.month, coalesce(f.entries, 0) AS entries, coalesce(f.exits, 0) AS exits, coalesce(f.returned, 0) AS returned,
        coalesce(f.payment_failure, 0) AS payment_failure, coalesce(f.customer_cancelled, 0) AS customer_cancelled,
        coalesce(f.admin_cancelled, 0) AS admin_cancelled, coalesce(f.chargeback, 0) AS chargeback, coalesce(f.expired, 0) AS expired
    FROM (
        SELECT g.month::date AS month
        FROM (SELECT min(b.day) AS first_day, max(b.day) AS last_day FROM finance.daily_parts b) e CROSS JOIN finance.clock c
        CROSS JOIN LATERAL generate_series(date_trunc('month', e.first_day::timestamp), greatest(c.today, e.last_day)::timestamp, interval '1 month') AS g (month)
    ) k
    LEFT JOIN (
        SELECT date_trunc('month', d.day::timestamp)::date AS month, sum(d.entries)::bigint AS entries,
            sum(d.exits_payment_failure + d.exits_customer_cancelled + d.exits_admin_cancelled + d.exits_chargeback + d.exits_expired)::bigint AS exits,
            sum(d.returned_in_month_payment_failure + d.returned_in_month_customer_cancelled + d.returned_in_month_admin_cancelled
                + d.returned_in_month_chargeback + d.returned_in_month_expired)::bigint AS returned,
            sum(d.exits_payment_failure - d.returned_in_month_payment_failure)::bigint AS payment_failure,
            sum(d.exits_customer_cancelled - d.returned_in_month_customer_cancelled)::bigint AS customer_cancelled,
            sum(d.exits_admin_cancelled - d.returned_in_month_admin_cancelled)::bigint AS admin_cancelled,
            sum(d.exits_chargeback - d.returned_in_month_chargeback)::bigint AS chargeback,
            sum(d.exits_expired - d.returned_in_month_expired)::bigint AS expired
        FROM finance.daily_parts d
        GROUP BY 1
    ) f ON f.month = k.month
) m
WINDOW w AS (ORDER BY m.month);

CREATE OR REPLACE VIEW finance.revenue_monthly AS
SELECT c.month, coalesce(f.gross_gwa_cents + f.gross_gwb_cents, 0)::bigint AS gross_cents, coalesce(f.gross_gwa_cents, 0)::bigint AS gross_gwa_cents,
    coalesce(f.gross_gwb_cents, 0)::bigint AS gross_gwb_cents, coalesce(f.refunds_cents, 0)::bigint AS refunds_cents, coalesce(f.chargebacks_cents, 0)::bigint AS chargebacks_cents,
    coalesce(f.gross_gwa_cents + f.gross_gwb_cents - f.refunds_cents - f.chargebacks_cents, 0)::bigint AS net_cents,
    c.new_customers AS new_subscriptions, c.cancelled AS cancellations
FROM finance.churn_monthly c
LEFT JOIN (
    SELECT date_trunc('month', d.day::timestamp)::date AS month, sum(d.gross_gwa_cents) AS gross_gwa_cents, sum(d.gross_gwb_cents) AS gross_gwb_cents,
        sum(d.refunds_cents) AS refunds_cents, sum(d.chargebacks_cents) AS chargebacks_cents
    FROM finance.daily_parts d
    GROUP BY 1
) f ON f.month = c.month;

SELECT finance.grant_analysts();

COMMENT ON VIEW finance.daily_parts IS 'What finance.daily adds up: the rollup, what is not folded yet, and access that has ended by its date while its row is not closed; several rows a day. For sums over periods.';
-- +goose StatementBegin
DO $$
DECLARE
    c record;
BEGIN
    FOR c IN SELECT attname, col_description(attrelid, attnum) AS said FROM pg_attribute WHERE attrelid = 'finance.daily'::regclass AND attnum > 0 LOOP
        EXECUTE format('COMMENT ON COLUMN finance.daily_parts.%I IS %L', c.attname, c.said);
    END LOOP;
END
$$;
-- +goose StatementEnd

-- +goose Down
CREATE OR REPLACE VIEW finance.daily AS
SELECT f.day,
    sum(f.gross_gwa_cents)::bigint AS gross_gwa_cents,
    sum(f.gross_gwb_cents)::bigint AS gross_gwb_cents,
    sum(f.payments)::bigint AS payments,
    sum(f.failed_attempts)::bigint AS failed_attempts,
    sum(f.refunds_cents)::bigint AS refunds_cents,
    sum(f.chargebacks_cents)::bigint AS chargebacks_cents,
    sum(f.entries)::bigint AS entries,
    sum(f.exits_payment_failure)::bigint AS exits_payment_failure,
    sum(f.exits_customer_cancelled)::bigint AS exits_customer_cancelled,
    sum(f.exits_admin_cancelled)::bigint AS exits_admin_cancelled,
    sum(f.exits_chargeback)::bigint AS exits_chargeback,
    sum(f.exits_expired)::bigint AS exits_expired,
    sum(f.returned_in_day)::bigint AS returned_in_day,
    sum(f.returned_in_month_payment_failure)::bigint AS returned_in_month_payment_failure,
    sum(f.returned_in_month_customer_cancelled)::bigint AS returned_in_month_customer_cancelled,
    sum(f.returned_in_month_admin_cancelled)::bigint AS returned_in_month_admin_cancelled,
    sum(f.returned_in_month_chargeback)::bigint AS returned_in_month_chargeback,
    sum(f.returned_in_month_expired)::bigint AS returned_in_month_expired
FROM (
    SELECT day,
        gross_gwa_cents, gross_gwb_cents, payments, failed_attempts, refunds_cents, chargebacks_cents, entries, exits_payment_failure,
        exits_customer_cancelled, exits_admin_cancelled, exits_chargeback, exits_expired, returned_in_day, returned_in_month_payment_failure,
        returned_in_month_customer_cancelled, returned_in_month_admin_cancelled, returned_in_month_chargeback, returned_in_month_expired
    FROM finance.daily_rollup
    UNION ALL
    SELECT day,
        gross_gwa_cents, gross_gwb_cents, payments, failed_attempts, refunds_cents, chargebacks_cents, entries, exits_payment_failure,
        exits_customer_cancelled, exits_admin_cancelled, exits_chargeback, exits_expired, returned_in_day, returned_in_month_payment_failure,
        returned_in_month_customer_cancelled, returned_in_month_admin_cancelled, returned_in_month_chargeback, returned_in_month_expired
    FROM finance.daily_unfolded
    UNION ALL
    SELECT (greatest(s.expires_at, e.at) AT TIME ZONE z.report_tz)::date,
        0, 0, 0, 0, 0, 0, 0, 0, CASE WHEN s.cancel_at_period_end THEN 1 ELSE 0 END, 0, 0, CASE WHEN s.cancel_at_period_end THEN 0 ELSE 1 END, 0, 0, 0, 0, 0, 0
    FROM finance.settings z CROSS JOIN subscriptions.subscriptions s
    JOIN LATERAL (SELECT t.at FROM subscriptions.transitions t WHERE t.subscription_id = s.id AND t.to_status = 'active' ORDER BY t.id DESC LIMIT 1) e ON true
    WHERE s.status = 'active' AND s.expires_at IS NOT NULL AND s.expires_at <= finance.now()
) f
GROUP BY f.day;

CREATE OR REPLACE VIEW finance.overview AS
SELECT n.mrr_cents, n.mrr_gwa_cents, n.mrr_gwb_cents, n.trial_mrr_cents, n.mrr_cents * 12 AS arr_cents,
    CASE WHEN n.active = 0 THEN 0 ELSE round(n.mrr_cents::numeric / n.active) END::bigint AS average_ticket_cents,
    n.active AS active_subscriptions, n.trials, n.customers AS total_customers, n.overdue AS overdue_count, n.at_risk_cents AS amount_at_risk_cents,
    d.exits_30d - r.returns_30d AS exits_30d, d.active_30d_ago,
    CASE WHEN d.active_30d_ago = 0 THEN 0 ELSE round(100.0 * (d.exits_30d - r.returns_30d) / d.active_30d_ago, 2) END::numeric AS churn_rate_30d,
    d.total_refunded_cents, d.total_chargebacks_cents, d.gross_30d_cents, d.refunds_30d_cents, d.chargebacks_30d_cents,
    n.mrr_cents - d.refunds_30d_cents AS net_revenue_30d_cents, d.gross_30d_cents - d.refunds_30d_cents - d.chargebacks_30d_cents AS cash_net_30d_cents,
    d.payments_30d, d.failed_attempts_30d,
    CASE WHEN d.payments_30d + d.failed_attempts_30d = 0 THEN 0
         ELSE round(100.0 * d.payments_30d / (d.payments_30d + d.failed_attempts_30d), 2) END::numeric AS payment_success_rate
FROM (
    SELECT coalesce(sum(s.mrr_cents), 0)::bigint AS mrr_cents,
        coalesce(sum(s.mrr_cents) FILTER (WHERE s.gateway = 'gwa'), 0)::bigint AS mrr_gwa_cents,
        coalesce(sum(s.mrr_cents) FILTER (WHERE s.gateway = 'gwb'), 0)::bigint AS mrr_gwb_cents,
        coalesce(sum(s.trial_mrr_cents), 0)::bigint AS trial_mrr_cents, coalesce(sum(s.active), 0)::bigint AS active, coalesce(sum(s.trials), 0)::bigint AS trials,
        coalesce(sum(s.overdue), 0)::bigint AS overdue, coalesce(sum(s.at_risk_cents), 0)::bigint AS at_risk_cents, coalesce(sum(s.customers), 0)::bigint AS customers
    FROM finance.standing s
) n
CROSS JOIN (
    SELECT coalesce(sum(f.refunds_cents), 0)::bigint AS total_refunded_cents, coalesce(sum(f.chargebacks_cents), 0)::bigint AS total_chargebacks_cents,
        coalesce(sum(f.gross_gwa_cents + f.gross_gwb_cents) FILTER (WHERE f.day >= c.today - 30), 0)::bigint AS gross_30d_cents,
        coalesce(sum(f.refunds_cents) FILTER (WHERE f.day >= c.today - 30), 0)::bigint AS refunds_30d_cents,
        coalesce(sum(f.chargebacks_cents) FILTER (WHERE f.day >= c.today - 30), 0)::bigint AS chargebacks_30d_cents,
        coalesce(sum(f.payments) FILTER (WHERE f.day >= c.today - 30), 0)::bigint AS payments_30d,
        coalesce(sum(f.failed_attempts) FILTER (WHERE f.day >= c.today - 30), 0)::bigint AS failed_attempts_30d,
        coalesce(sum(f.exits_payment_failure + f.exits_customer_cancelled + f.exits_admin_cancelled + f.exits_chargeback + f.exits_expired)
            FILTER (WHERE f.day >= c.today - 30), 0)::bigint AS exits_30d,
        coalesce(sum(f.entries - f.exits_payment_failure - f.exits_customer_cancelled - f.exits_admin_cancelled - f.exits_chargeback - f.exits_expired)
            FILTER (WHERE f.day < c.today - 30), 0)::bigint AS active_30d_ago
    FROM finance.daily f CROSS JOIN finance.clock c
) d
CROSS JOIN (
    SELECT coalesce(sum(b.returns), 0)::bigint AS returns_30d
    FROM finance.returns b CROSS JOIN finance.clock c
    WHERE b.day >= c.today - 30 AND b.left_day >= c.today - 30
) r;

CREATE OR REPLACE VIEW finance.revenue_daily AS
SELECT k.day, coalesce(f.gross_gwa_cents + f.gross_gwb_cents, 0) AS gross_cents, coalesce(f.gross_gwa_cents, 0) AS gross_gwa_cents, coalesce(f.gross_gwb_cents, 0) AS gross_gwb_cents,
    coalesce(f.refunds_cents, 0) AS refunds_cents, coalesce(f.chargebacks_cents, 0) AS chargebacks_cents,
    coalesce(f.gross_gwa_cents + f.gross_gwb_cents - f.refunds_cents - f.chargebacks_cents, 0) AS net_cents,
    coalesce(f.entries - f.returned_in_day, 0) AS new_subscriptions,
    coalesce(f.exits_payment_failure + f.exits_customer_cancelled + f.exits_admin_cancelled + f.exits_chargeback + f.exits_expired - f.returned_in_day, 0) AS cancellations
FROM (
    SELECT g.day::date AS day
    FROM (SELECT min(b.day) AS first_day, max(b.day) AS last_day FROM finance.daily b) e CROSS JOIN finance.clock c
    CROSS JOIN LATERAL generate_series(e.first_day::timestamp, greatest(c.today, e.last_day)::timestamp, interval '1 day') AS g (day)
) k
LEFT JOIN finance.daily f ON f.day = k.day;

CREATE OR REPLACE VIEW finance.churn_monthly AS
SELECT m.month, (sum(m.entries - m.exits) OVER w - m.entries + m.exits)::bigint AS active_start,
    m.entries - m.returned AS new_customers, m.exits - m.returned AS cancelled,
    (sum(m.entries - m.exits) OVER w)::bigint AS active_end,
    CASE WHEN sum(m.entries - m.exits) OVER w - m.entries + m.exits = 0 THEN 0
         ELSE round(100.0 * (m.exits - m.returned) / (sum(m.entries - m.exits) OVER w - m.entries + m.exits), 2) END::numeric AS churn_rate,
    m.payment_failure, m.customer_cancelled, m.admin_cancelled, m.chargeback, m.expired
FROM (
    SELECT k.month, coalesce(f.entries, 0) AS entries, coalesce(f.exits, 0) AS exits, coalesce(f.returned, 0) AS returned,
        coalesce(f.payment_failure, 0) AS payment_failure, coalesce(f.customer_cancelled, 0) AS customer_cancelled,
        coalesce(f.admin_cancelled, 0) AS admin_cancelled, coalesce(f.chargeback, 0) AS chargeback, coalesce(f.expired, 0) AS expired
    FROM (
        SELECT g.month::date AS month
        FROM (SELECT min(b.day) AS first_day, max(b.day) AS last_day FROM finance.daily b) e CROSS JOIN finance.clock c
        CROSS JOIN LATERAL generate_series(date_trunc('month', e.first_day::timestamp), greatest(c.today, e.last_day)::timestamp, interval '1 month') AS g (month)
    ) k
    LEFT JOIN (
        SELECT date_trunc('month', d.day::timestamp)::date AS month, sum(d.entries)::bigint AS entries,
            sum(d.exits_payment_failure + d.exits_customer_cancelled + d.exits_admin_cancelled + d.exits_chargeback + d.exits_expired)::bigint AS exits,
            sum(d.returned_in_month_payment_failure + d.returned_in_month_customer_cancelled + d.returned_in_month_admin_cancelled
                + d.returned_in_month_chargeback + d.returned_in_month_expired)::bigint AS returned,
            sum(d.exits_payment_failure - d.returned_in_month_payment_failure)::bigint AS payment_failure,
            sum(d.exits_customer_cancelled - d.returned_in_month_customer_cancelled)::bigint AS customer_cancelled,
            sum(d.exits_admin_cancelled - d.returned_in_month_admin_cancelled)::bigint AS admin_cancelled,
            sum(d.exits_chargeback - d.returned_in_month_chargeback)::bigint AS chargeback,
            sum(d.exits_expired - d.returned_in_month_expired)::bigint AS expired
        FROM finance.daily d
        GROUP BY 1
    ) f ON f.month = k.month
) m
WINDOW w AS (ORDER BY m.month);

CREATE OR REPLACE VIEW finance.revenue_monthly AS
SELECT c.month, coalesce(f.gross_gwa_cents + f.gross_gwb_cents, 0)::bigint AS gross_cents, coalesce(f.gross_gwa_cents, 0)::bigint AS gross_gwa_cents,
    coalesce(f.gross_gwb_cents, 0)::bigint AS gross_gwb_cents, coalesce(f.refunds_cents, 0)::bigint AS refunds_cents, coalesce(f.chargebacks_cents, 0)::bigint AS chargebacks_cents,
    coalesce(f.gross_gwa_cents + f.gross_gwb_cents - f.refunds_cents - f.chargebacks_cents, 0)::bigint AS net_cents,
    c.new_customers AS new_subscriptions, c.cancelled AS cancellations
FROM finance.churn_monthly c
LEFT JOIN (
    SELECT date_trunc('month', d.day::timestamp)::date AS month, sum(d.gross_gwa_cents) AS gross_gwa_cents, sum(d.gross_gwb_cents) AS gross_gwb_cents,
        sum(d.refunds_cents) AS refunds_cents, sum(d.chargebacks_cents) AS chargebacks_cents
    FROM finance.daily d
    GROUP BY 1
) f ON f.month = c.month;

DROP VIEW finance.daily_parts;
