CREATE OR REPLACE VIEW finance.cohort_months AS
SELECT f.cohort_month, f.month, sum(f.customers)::bigint AS customers, sum(f.change)::bigint AS change
FROM (
    SELECT r.cohort_month, r.month, r.customers, r.change FROM finance.cohort_rollup r
    UNION ALL
    SELECT finance.month_of(d.first_at, z.report_tz), finance.month_of(d.at, z.report_tz), d.firsts, d.entries - d.exits
    FROM finance.daily_deltas d CROSS JOIN finance.settings z WHERE d.first_at IS NOT NULL
    UNION ALL
    SELECT finance.month_of(b.at, z.report_tz), finance.month_of(x.ended_at, z.report_tz), 0, -1
    FROM finance.settings z CROSS JOIN (SELECT s.customer_id, greatest(s.expires_at, e.at) AS ended_at
    FROM subscriptions.subscriptions s
    JOIN LATERAL (SELECT t.at FROM subscriptions.transitions t WHERE t.subscription_id = s.id AND t.to_status = 'active' ORDER BY t.id DESC LIMIT 1) e ON true
    WHERE s.status = 'active' AND s.expires_at IS NOT NULL AND s.expires_at <= finance.now()) x
    JOIN LATERAL (SELECT t.at FROM subscriptions.transitions t WHERE t.customer_id = x.customer_id AND t.to_status = 'active' ORDER BY t.id LIMIT 1) b ON true
) f
GROUP BY f.cohort_month, f.month;
COMMENT ON VIEW finance.cohort_months IS 'Customers by the month in which they first had access, and how their number with access changed in each month; exact at any moment. Source: rollup, what is not folded yet, and access that has ended by its date.';
COMMENT ON COLUMN finance.cohort_months.cohort_month IS 'First day of the month of the first access, in the report time zone.';
COMMENT ON COLUMN finance.cohort_months.month IS 'First day of a month since.';
COMMENT ON COLUMN finance.cohort_months.customers IS 'First accesses: in the row of the cohort''s own month.';
COMMENT ON COLUMN finance.cohort_months.change IS 'Entries less exits of the month, renewals left out.';
