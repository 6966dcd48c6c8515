-- +goose Up
CREATE VIEW finance.mrr AS
SELECT s.gateway, s.payment_method, s.plan_id, p.name AS plan_name, s.active AS active_subscriptions, s.mrr_cents, s.trials, s.trial_mrr_cents,
    s.overdue AS overdue_subscriptions, s.at_risk_cents
FROM finance.standing s
JOIN subscriptions.plans p ON p.plan_id = s.plan_id
WHERE s.active <> 0 OR s.overdue <> 0;

CREATE VIEW finance.overview AS
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

CREATE VIEW finance.revenue_daily AS
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

CREATE VIEW finance.churn_monthly AS
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

CREATE VIEW finance.revenue_monthly AS
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

CREATE VIEW finance.cohorts AS
SELECT c.cohort_month, c.months_since, c.customers, c.retained,
    CASE WHEN c.customers = 0 THEN 0 ELSE round(100.0 * c.retained / c.customers, 2) END::numeric AS retained_pct
FROM (
    SELECT k.cohort_month, n.months_since, k.customers, sum(coalesce(x.change, 0)) OVER (PARTITION BY k.cohort_month ORDER BY n.months_since)::bigint AS retained
    FROM (
        SELECT f.month AS cohort_month, count(*) AS customers
        FROM (SELECT date_trunc('month', min(e.at) AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS month FROM finance.entries e GROUP BY e.customer_id) f
        GROUP BY f.month
    ) k
    CROSS JOIN finance.clock c
    CROSS JOIN LATERAL generate_series(0, (extract(year FROM c.today) * 12 + extract(month FROM c.today) - extract(year FROM k.cohort_month) * 12 - extract(month FROM k.cohort_month))::integer) AS n (months_since)
    LEFT JOIN (
        SELECT a.cohort_month, (extract(year FROM a.month) * 12 + extract(month FROM a.month) - extract(year FROM a.cohort_month) * 12 - extract(month FROM a.cohort_month))::integer AS months_since,
            sum(a.change)::bigint AS change
        FROM (
            SELECT min(m.month) OVER (PARTITION BY m.customer_id) AS cohort_month, m.month, m.change
            FROM (
                SELECT v.customer_id, date_trunc('month', v.at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS month,
                    CASE v.kind WHEN 'entry' THEN 1 ELSE -1 END AS change
                FROM finance.movements v WHERE NOT v.is_renewal
            ) m
        ) a
        GROUP BY 1, 2
    ) x ON x.cohort_month = k.cohort_month AND x.months_since = n.months_since
) c;

CREATE VIEW finance.tenure AS
SELECT a.customer_id, min(a.from_at)::timestamptz AS first_access_at,
    CASE WHEN count(*) FILTER (WHERE a.until_at IS NULL) = 0 THEN max(a.until_at) END::timestamptz AS last_access_at,
    count(*) FILTER (WHERE a.until_at IS NULL) > 0 AS is_active,
    floor(sum(extract(epoch FROM greatest(coalesce(a.until_at, finance.now()) - a.from_at, interval '0'))) / 86400)::bigint AS access_days
FROM finance.access_periods a
GROUP BY a.customer_id;

SELECT finance.grant_analysts();

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

COMMENT ON VIEW finance.overview IS 'One row: the figures of GET /api/v1/admin/finance/overview, exact at any moment. The last 30 days begin at midnight of the day 30 days ago, in the report time zone, and end now. Source: finance.standing, finance.daily, finance.returns.';
COMMENT ON COLUMN finance.overview.mrr_cents IS 'Sum over active subscriptions of the monthly price as it was sold, cents.';
COMMENT ON COLUMN finance.overview.mrr_gwa_cents IS 'The part of gateway A, cents.';
COMMENT ON COLUMN finance.overview.mrr_gwb_cents IS 'The part of gateway B, cents.';
COMMENT ON COLUMN finance.overview.trial_mrr_cents IS 'The part of trials, cents.';
COMMENT ON COLUMN finance.overview.arr_cents IS 'mrr_cents x 12.';
COMMENT ON COLUMN finance.overview.average_ticket_cents IS 'mrr_cents / active_subscriptions, rounded half up, cents.';
COMMENT ON COLUMN finance.overview.active_subscriptions IS 'status active, and expires_at null or in the future.';
COMMENT ON COLUMN finance.overview.trials IS 'Of them, trials.';
COMMENT ON COLUMN finance.overview.total_customers IS 'Customers that are not deleted.';
COMMENT ON COLUMN finance.overview.overdue_count IS 'Subscriptions with payment_failures > 0 or suspended, neither cancelled nor expired.';
COMMENT ON COLUMN finance.overview.amount_at_risk_cents IS 'Sum of the monthly prices of the overdue, cents.';
COMMENT ON COLUMN finance.overview.exits_30d IS 'Customers whose access stopped in the last 30 days, without those whose subscription came back within them.';
COMMENT ON COLUMN finance.overview.active_30d_ago IS 'Active customers at the beginning of the last 30 days.';
COMMENT ON COLUMN finance.overview.churn_rate_30d IS 'exits_30d / active_30d_ago x 100, percent, two decimals.';
COMMENT ON COLUMN finance.overview.total_refunded_cents IS 'Refunds of subscriptions, all time, cents.';
COMMENT ON COLUMN finance.overview.total_chargebacks_cents IS 'Chargebacks of subscriptions less what won disputes gave back, all time, cents.';
COMMENT ON COLUMN finance.overview.gross_30d_cents IS 'Gross of the last 30 days, cents.';
COMMENT ON COLUMN finance.overview.refunds_30d_cents IS 'Refunds of the last 30 days, cents.';
COMMENT ON COLUMN finance.overview.chargebacks_30d_cents IS 'Chargebacks of the last 30 days, cents.';
COMMENT ON COLUMN finance.overview.net_revenue_30d_cents IS 'mrr_cents - refunds_30d_cents.';
COMMENT ON COLUMN finance.overview.cash_net_30d_cents IS 'gross_30d_cents - refunds_30d_cents - chargebacks_30d_cents.';
COMMENT ON COLUMN finance.overview.payments_30d IS 'Settled attempts of the last 30 days.';
COMMENT ON COLUMN finance.overview.failed_attempts_30d IS 'Failed attempts of the last 30 days.';
COMMENT ON COLUMN finance.overview.payment_success_rate IS 'payments_30d / (payments_30d + failed_attempts_30d) x 100, percent, two decimals.';

COMMENT ON VIEW finance.revenue_daily IS 'Cash by day, one row for each day from the first on, exact at any moment. Source: finance.daily.';
COMMENT ON COLUMN finance.revenue_daily.day IS 'Day in the report time zone.';
COMMENT ON COLUMN finance.revenue_daily.gross_cents IS 'Subscription payments settled on the day, cents, once per gateway payment.';
COMMENT ON COLUMN finance.revenue_daily.gross_gwa_cents IS 'The part of gateway A, cents.';
COMMENT ON COLUMN finance.revenue_daily.gross_gwb_cents IS 'The part of gateway B, cents.';
COMMENT ON COLUMN finance.revenue_daily.refunds_cents IS 'Given back on the day, cents.';
COMMENT ON COLUMN finance.revenue_daily.chargebacks_cents IS 'Taken by disputes opened on the day less what was given back by those won on it, cents; may be negative.';
COMMENT ON COLUMN finance.revenue_daily.net_cents IS 'gross - refunds - chargebacks, cents; may be negative.';
COMMENT ON COLUMN finance.revenue_daily.new_subscriptions IS 'Customers who gained access, without those whose subscription had left on the same day.';
COMMENT ON COLUMN finance.revenue_daily.cancellations IS 'Customers who lost access, without those whose subscription came back on the same day.';

COMMENT ON VIEW finance.revenue_monthly IS 'Cash by month, one row for each month from the first on, exact at any moment. Source: finance.daily, finance.churn_monthly.';
COMMENT ON COLUMN finance.revenue_monthly.month IS 'First day of the month, in the report time zone.';
COMMENT ON COLUMN finance.revenue_monthly.gross_cents IS 'Subscription payments settled in the month, cents, once per gateway payment.';
COMMENT ON COLUMN finance.revenue_monthly.gross_gwa_cents IS 'The part of gateway A, cents.';
COMMENT ON COLUMN finance.revenue_monthly.gross_gwb_cents IS 'The part of gateway B, cents.';
COMMENT ON COLUMN finance.revenue_monthly.refunds_cents IS 'Given back in the month, cents.';
COMMENT ON COLUMN finance.revenue_monthly.chargebacks_cents IS 'Taken by disputes opened in the month less what was given back by those won in it, cents; may be negative.';
COMMENT ON COLUMN finance.revenue_monthly.net_cents IS 'gross - refunds - chargebacks, cents; may be negative.';
COMMENT ON COLUMN finance.revenue_monthly.new_subscriptions IS 'New of finance.churn_monthly.';
COMMENT ON COLUMN finance.revenue_monthly.cancellations IS 'Cancelled of finance.churn_monthly.';

COMMENT ON VIEW finance.churn_monthly IS 'Churn by month, one row for each month from the first on, exact at any moment; the unit is the customer. active_end = active_start + new_customers - cancelled in every row, and the five reasons add up to cancelled. Source: finance.daily.';
COMMENT ON COLUMN finance.churn_monthly.month IS 'First day of the month, in the report time zone.';
COMMENT ON COLUMN finance.churn_monthly.active_start IS 'Customers with access at its beginning.';
COMMENT ON COLUMN finance.churn_monthly.new_customers IS 'Customers who gained access, without those whose subscription had left in the same month.';
COMMENT ON COLUMN finance.churn_monthly.cancelled IS 'Customers who lost access, without those whose subscription came back in the same month. Somebody who joins and leaves counts in both.';
COMMENT ON COLUMN finance.churn_monthly.active_end IS 'Customers with access at its end; of the present month, now.';
COMMENT ON COLUMN finance.churn_monthly.churn_rate IS 'cancelled / active_start x 100, percent, two decimals; may exceed 100.';
COMMENT ON COLUMN finance.churn_monthly.payment_failure IS 'Of cancelled: a payment failed or never came.';
COMMENT ON COLUMN finance.churn_monthly.customer_cancelled IS 'Of cancelled: by the customer, at the moment when access stopped.';
COMMENT ON COLUMN finance.churn_monthly.admin_cancelled IS 'Of cancelled: by an admin or at the gateway''s console.';
COMMENT ON COLUMN finance.churn_monthly.chargeback IS 'Of cancelled: by a dispute.';
COMMENT ON COLUMN finance.churn_monthly.expired IS 'Of cancelled: the paid time ran out.';

COMMENT ON VIEW finance.cohorts IS 'Retention: customers by the month in which they first had access, and how many of them have it at the end of each month since (of the present month: now). Source: finance.movements, whole.';
COMMENT ON COLUMN finance.cohorts.cohort_month IS 'First day of the month of the first access, in the report time zone.';
COMMENT ON COLUMN finance.cohorts.months_since IS '0 is that month itself.';
COMMENT ON COLUMN finance.cohorts.customers IS 'Customers of the cohort.';
COMMENT ON COLUMN finance.cohorts.retained IS 'Of them, those with access at the end of that month.';
COMMENT ON COLUMN finance.cohorts.retained_pct IS 'retained / customers x 100, percent, two decimals.';

COMMENT ON VIEW finance.tenure IS 'How long each customer who ever had access has had it. Source: finance.access_periods, whole.';
COMMENT ON COLUMN finance.tenure.customer_id IS 'The customer.';
COMMENT ON COLUMN finance.tenure.first_access_at IS 'When access first began, UTC.';
COMMENT ON COLUMN finance.tenure.last_access_at IS 'When it last stopped, UTC; null while it lasts.';
COMMENT ON COLUMN finance.tenure.is_active IS 'Has access now.';
COMMENT ON COLUMN finance.tenure.access_days IS 'Whole days of access, gaps left out.';

-- +goose Down
DROP VIEW finance.tenure;
DROP VIEW finance.cohorts;
DROP VIEW finance.revenue_monthly;
DROP VIEW finance.churn_monthly;
DROP VIEW finance.revenue_daily;
DROP VIEW finance.overview;
DROP VIEW finance.mrr;
