CREATE OR REPLACE VIEW finance.revenue_monthly AS
SELECT c.month, coalesce(f.gross_gwa_cents + f.gross_gwb_cents, 0)::bigint AS gross_cents, coalesce(f.gross_gwa_cents, 0)::bigint AS gross_gwa_cents,
    coalesce(f.gross_gwb_cents, 0)::bigint AS gross_gwb_cents, coalesce(f.refunds_cents, 0)::bigint AS refunds_cents, coalesce(f.chargebacks_cents, 0)::bigint AS chargebacks_cents,
    coalesce(f.gross_gwa_cents + f.gross_gwb_cents - f.refunds_cents - f.chargebacks_cents, 0)::bigint AS net_cents,
    c.new_customers AS new_subscriptions, c.cancelled AS cancellations
FROM finance.churn_monthly c
LEFT JOIN (
    SELECT date_trunc('month', d.day::timestamp)::date AS month, sum(d.gross_gwa_cents) AS gross_gwa_cents, sum(d.gross_gwb_cents) AS gross_gwb_cents,
        sum(d.refunds_cents) AS refunds_cents, sum(d.chargebacks_cents) AS chargebacks_cents
    FROM finance_internal.daily_parts d
    GROUP BY 1
) f ON f.month = c.month;
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
