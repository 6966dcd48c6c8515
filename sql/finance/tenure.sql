-- name: CustomerTenureGet :one
-- Cohorts are those of the last 24 months.
WITH stay AS MATERIALIZED (
    SELECT t.access_days, count(*) AS customers, count(*) FILTER (WHERE t.is_active) AS active FROM finance.tenure t GROUP BY t.access_days
), ranked AS MATERIALIZED (
    SELECT s.access_days, s.customers, sum(s.customers) OVER (ORDER BY s.access_days) AS upto, sum(s.customers) OVER () AS whole FROM stay s
)
SELECT json_build_object(
    'average_days', coalesce((SELECT round(sum(s.access_days * s.customers) / sum(s.customers), 2) FROM stay s), 0),
    'median_days', coalesce((SELECT round((min(r.access_days) FILTER (WHERE r.upto > floor((r.whole - 1) / 2.0))
        + min(r.access_days) FILTER (WHERE r.upto > ceil((r.whole - 1) / 2.0))) / 2.0, 2) FROM ranked r), 0),
    'buckets', (SELECT json_agg(json_build_object('from_days', b.from_days, 'to_days', b.to_days, 'customers', b.customers, 'active', b.active,
            'cancelled', b.customers - b.active) ORDER BY b.from_days)
        FROM (SELECT k.from_days, k.to_days, coalesce(sum(x.customers), 0)::bigint AS customers, coalesce(sum(x.active), 0)::bigint AS active
            FROM (SELECT 0 AS from_days, 30 AS to_days UNION ALL SELECT 30, 90 UNION ALL SELECT 90, 180 UNION ALL SELECT 180, 365
                UNION ALL SELECT 365, 730 UNION ALL SELECT 730, NULL) k
            LEFT JOIN stay x ON x.access_days >= k.from_days AND (k.to_days IS NULL OR x.access_days < k.to_days)
            GROUP BY k.from_days, k.to_days) b),
    'cohorts', (SELECT coalesce(json_agg(json_build_object('month', to_char(k.cohort_month, 'YYYY-MM'), 'customers', k.customers, 'retained', k.retained)
            ORDER BY k.cohort_month), '[]')
        FROM (SELECT c.cohort_month, c.customers, json_agg(c.retained_pct ORDER BY c.months_since) AS retained
            FROM finance.cohorts c CROSS JOIN finance.clock n
            WHERE c.cohort_month >= date_trunc('month', n.today::timestamp) - interval '23 months' GROUP BY c.cohort_month, c.customers) k)
)::json AS report;
