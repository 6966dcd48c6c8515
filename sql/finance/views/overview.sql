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
         ELSE round(100.0 * d.payments_30d / (d.payments_30d + d.failed_attempts_30d), 2) END::numeric AS payment_success_rate,
    CASE WHEN n.mrr_cents = 0 THEN 0 ELSE round(100.0 * n.at_risk_cents / n.mrr_cents, 2) END::numeric AS at_risk_rate
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
    FROM finance_internal.daily_parts f CROSS JOIN (SELECT k.today - 30 AS since FROM finance.clock k OFFSET 0) c
) d
CROSS JOIN (
    SELECT coalesce(sum(b.returns), 0)::bigint AS returns_30d
    FROM finance.returns b CROSS JOIN (SELECT k.today - 30 AS since FROM finance.clock k OFFSET 0) c
    WHERE b.day >= c.since AND b.left_day >= c.since
) r;
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
COMMENT ON COLUMN finance.overview.at_risk_rate IS 'amount_at_risk_cents / mrr_cents x 100, percent, two decimals.';
