CREATE OR REPLACE VIEW finance.cohorts AS
WITH moved AS MATERIALIZED (
    SELECT c.cohort_month, (extract(year FROM age(c.month, c.cohort_month)) * 12 + extract(month FROM age(c.month, c.cohort_month)))::integer AS months_since, c.customers, c.change
    FROM finance.cohort_months c
), sized AS (
    SELECT m.cohort_month, sum(m.customers)::bigint AS customers FROM moved m GROUP BY m.cohort_month HAVING sum(m.customers) > 0
)
SELECT c.cohort_month, c.months_since, c.customers, c.retained,
    CASE WHEN c.customers = 0 THEN 0 ELSE round(100.0 * c.retained / c.customers, 2) END::numeric AS retained_pct
FROM (
    SELECT k.cohort_month, n.months_since, k.customers, sum(coalesce(x.change, 0)) OVER (PARTITION BY k.cohort_month ORDER BY n.months_since)::bigint AS retained
    FROM sized k
    CROSS JOIN (SELECT date_trunc('month', c.today::timestamp)::date AS month FROM finance.clock c OFFSET 0) p
    CROSS JOIN LATERAL generate_series(0, (extract(year FROM age(p.month, k.cohort_month)) * 12 + extract(month FROM age(p.month, k.cohort_month)))::integer) AS n (months_since)
    LEFT JOIN moved x ON x.cohort_month = k.cohort_month AND x.months_since = n.months_since
) c;
COMMENT ON VIEW finance.cohorts IS 'Retention: customers by the month in which they first had access, and how many of them have it at the end of each month since (of the present month: now). Exact at any moment. Source: finance.cohort_months.';
COMMENT ON COLUMN finance.cohorts.cohort_month IS 'First day of the month of the first access, in the report time zone.';
COMMENT ON COLUMN finance.cohorts.months_since IS '0 is that month itself.';
COMMENT ON COLUMN finance.cohorts.customers IS 'Customers of the cohort.';
COMMENT ON COLUMN finance.cohorts.retained IS 'Of them, those with access at the end of that month.';
COMMENT ON COLUMN finance.cohorts.retained_pct IS 'retained / customers x 100, percent, two decimals.';
