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
        FROM (SELECT min(b.day) AS first_day, max(b.day) AS last_day FROM finance_internal.daily_parts b) e CROSS JOIN finance.clock c
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
        FROM finance_internal.daily_parts d
        GROUP BY 1
    ) f ON f.month = k.month
) m
WINDOW w AS (ORDER BY m.month);
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
