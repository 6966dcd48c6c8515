-- It sorts whole ledgers, and there is one of it at a time: hence the work_mem.
CREATE OR REPLACE FUNCTION finance.rollup_differences() RETURNS TABLE (rollup text, key text, figure text, kept bigint, counted bigint) LANGUAGE sql STABLE SET work_mem = '128MB' AS $$
SELECT * FROM finance.figure_differences()
UNION ALL
SELECT 'cohorts', coalesce(k.cohort_month, c.cohort_month) || ' in ' || coalesce(k.month, c.month), v.figure, v.kept, v.counted
FROM finance.cohort_months k FULL JOIN finance_internal.cohort_scan c ON c.cohort_month = k.cohort_month AND c.month = k.month
CROSS JOIN LATERAL (
    SELECT 'customers'::text AS figure, coalesce(k.customers, 0) AS kept, coalesce(c.customers, 0) AS counted
    UNION ALL SELECT 'change', coalesce(k.change, 0), coalesce(c.change, 0)
) v
WHERE v.kept <> v.counted
UNION ALL
SELECT 'mrr', coalesce(k.month, c.month)::text, v.figure, v.kept, v.counted
FROM finance_internal.mrr_months k FULL JOIN finance_internal.mrr_scan c ON c.month = k.month
CROSS JOIN LATERAL (
    SELECT 'new_cents'::text AS figure, coalesce(k.new_cents, 0) AS kept, coalesce(c.new_cents, 0) AS counted
    UNION ALL SELECT 'expansion_cents', coalesce(k.expansion_cents, 0), coalesce(c.expansion_cents, 0)
    UNION ALL SELECT 'reactivation_cents', coalesce(k.reactivation_cents, 0), coalesce(c.reactivation_cents, 0)
    UNION ALL SELECT 'contraction_cents', coalesce(k.contraction_cents, 0), coalesce(c.contraction_cents, 0)
    UNION ALL SELECT 'churn_cents', coalesce(k.churn_cents, 0), coalesce(c.churn_cents, 0)
) v
WHERE v.kept <> v.counted
UNION ALL
SELECT 'tenure', coalesce(k.customer_id, c.customer_id), 'access_days', k.access_days, c.access_days
FROM finance.tenure k FULL JOIN finance_internal.tenure_scan c ON c.customer_id = k.customer_id
WHERE (k.first_access_at, k.last_access_at, k.is_active, k.access_days) IS DISTINCT FROM (c.first_access_at, c.last_access_at, c.is_active, c.access_days)
UNION ALL
SELECT 'dues', coalesce(k.subscription_id, c.subscription_id), 'otherwise_on', k.otherwise_on - date '2000-01-01', c.otherwise_on - date '2000-01-01'
FROM (SELECT d.subscription_id, d.next_billing_date, nullif(d.otherwise_on, 'infinity') AS otherwise_on FROM finance.dues d) k
FULL JOIN (SELECT d.subscription_id, d.next_billing_date, nullif(d.otherwise_on, 'infinity') AS otherwise_on FROM finance_internal.due_scan d) c ON c.subscription_id = k.subscription_id
WHERE (k.subscription_id, k.next_billing_date, k.otherwise_on) IS DISTINCT FROM (c.subscription_id, c.next_billing_date, c.otherwise_on)
$$;
COMMENT ON FUNCTION finance.rollup_differences() IS 'Where what is kept differs from the scan, by rollup (daily, returns, standing, cohorts, mrr, tenure, dues), row and column: what is kept and what the ledgers say. Empty at any moment; slow.';
