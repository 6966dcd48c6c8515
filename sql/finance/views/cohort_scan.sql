CREATE OR REPLACE VIEW finance_internal.cohort_scan AS
SELECT m.cohort_month, m.month, count(*) FILTER (WHERE m.is_first)::bigint AS customers, sum(m.change)::bigint AS change
FROM (
    SELECT finance.month_of(first_value(v.at) OVER w, z.report_tz) AS cohort_month, finance.month_of(v.at, z.report_tz) AS month,
        row_number() OVER w = 1 AS is_first, CASE v.kind WHEN 'entry' THEN 1 ELSE -1 END AS change
    FROM finance.movements v CROSS JOIN finance.settings z
    WHERE NOT v.is_renewal
    WINDOW w AS (PARTITION BY v.customer_id ORDER BY v.movement_id)
) m
GROUP BY m.cohort_month, m.month;
COMMENT ON VIEW finance_internal.cohort_scan IS 'The same as finance.cohort_months, counted from finance.movements: slow, for checks.';
COMMENT ON COLUMN finance_internal.cohort_scan.cohort_month IS 'First day of the month of the first access, in the report time zone.';
COMMENT ON COLUMN finance_internal.cohort_scan.month IS 'First day of a month since.';
COMMENT ON COLUMN finance_internal.cohort_scan.customers IS 'First accesses.';
COMMENT ON COLUMN finance_internal.cohort_scan.change IS 'Entries less exits of the month, renewals left out.';
