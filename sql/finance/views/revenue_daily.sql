CREATE OR REPLACE VIEW finance.revenue_daily AS
SELECT p.day, sum(p.gross_gwa_cents + p.gross_gwb_cents)::bigint AS gross_cents, sum(p.gross_gwa_cents)::bigint AS gross_gwa_cents, sum(p.gross_gwb_cents)::bigint AS gross_gwb_cents,
    sum(p.refunds_cents)::bigint AS refunds_cents, sum(p.chargebacks_cents)::bigint AS chargebacks_cents,
    sum(p.gross_gwa_cents + p.gross_gwb_cents - p.refunds_cents - p.chargebacks_cents)::bigint AS net_cents,
    sum(p.entries - p.returned_in_day)::bigint AS new_subscriptions,
    sum(p.exits - p.returned_in_day)::bigint AS cancellations
FROM (
    SELECT d.day, d.gross_gwa_cents, d.gross_gwb_cents, d.refunds_cents, d.chargebacks_cents, d.entries, d.returned_in_day,
        d.exits_payment_failure + d.exits_customer_cancelled + d.exits_admin_cancelled + d.exits_chargeback + d.exits_expired AS exits
    FROM finance_internal.daily_parts d
    UNION ALL
    SELECT g.day::date, 0, 0, 0, 0, 0, 0, 0
    FROM (SELECT min(b.day) AS first_day, max(b.day) AS last_day FROM finance_internal.daily_parts b) e CROSS JOIN finance.clock c
    CROSS JOIN LATERAL generate_series(e.first_day::timestamp, greatest(c.today, e.last_day)::timestamp, interval '1 day') AS g (day)
) p
GROUP BY p.day;
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
