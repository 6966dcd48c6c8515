CREATE OR REPLACE VIEW finance_internal.mrr_months AS
SELECT f.month, sum(f.new_cents)::bigint AS new_cents, sum(f.expansion_cents)::bigint AS expansion_cents, sum(f.reactivation_cents)::bigint AS reactivation_cents,
    sum(f.contraction_cents)::bigint AS contraction_cents, sum(f.churn_cents)::bigint AS churn_cents
FROM (
    SELECT r.month, r.new_cents, r.expansion_cents, r.reactivation_cents, r.contraction_cents, r.churn_cents FROM finance.mrr_rollup r
    UNION ALL
    SELECT finance.month_of(d.at, z.report_tz), d.new_cents,
        d.expansion_cents + CASE WHEN x.in_month THEN greatest(d.reactivation_cents - d.left_cents, 0) ELSE 0 END,
        CASE WHEN x.in_month THEN 0 ELSE d.reactivation_cents END,
        d.contraction_cents + CASE WHEN x.in_month THEN greatest(d.left_cents - d.reactivation_cents, 0) ELSE 0 END,
        d.churn_cents - CASE WHEN x.in_month THEN d.left_cents ELSE 0 END
    FROM finance.mrr_deltas d CROSS JOIN finance.settings z
    CROSS JOIN LATERAL (SELECT finance.month_of(d.left_at, z.report_tz) = finance.month_of(d.at, z.report_tz) AS in_month) x
    UNION ALL
    SELECT finance.month_of(greatest(s.expires_at, e.at), z.report_tz), 0, 0, 0, 0, s.price_cents
    FROM subscriptions.subscriptions s CROSS JOIN finance.settings z
    JOIN LATERAL (SELECT t.at FROM subscriptions.transitions t WHERE t.subscription_id = s.id AND t.to_status = 'active' ORDER BY t.id DESC LIMIT 1) e ON true
    WHERE s.status = 'active' AND s.expires_at IS NOT NULL AND s.expires_at <= finance.now()
) f
GROUP BY f.month;
COMMENT ON VIEW finance_internal.mrr_months IS 'Movements of MRR by month, exact at any moment: the rollup, what is not folded yet, and access that has ended by its date. Read finance.mrr_movements.';
COMMENT ON COLUMN finance_internal.mrr_months.month IS 'First day of the month, in the report time zone.';
COMMENT ON COLUMN finance_internal.mrr_months.new_cents IS 'First activations ever of customers, cents a month.';
COMMENT ON COLUMN finance_internal.mrr_months.expansion_cents IS 'Higher prices while active, cents.';
COMMENT ON COLUMN finance_internal.mrr_months.reactivation_cents IS 'Returns after an exit, cents.';
COMMENT ON COLUMN finance_internal.mrr_months.contraction_cents IS 'Lower prices while active, cents.';
COMMENT ON COLUMN finance_internal.mrr_months.churn_cents IS 'Exits, cents.';
