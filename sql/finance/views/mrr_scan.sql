CREATE OR REPLACE VIEW finance_internal.mrr_scan AS
SELECT finance.month_of(v.at, z.report_tz) AS month,
    sum(CASE WHEN v.change = 'new' THEN v.cents ELSE 0 END)::bigint AS new_cents,
    sum(CASE WHEN v.change = 'price' OR v.change = 'return' AND x.in_month THEN greatest(v.cents - v.before_cents, 0) ELSE 0 END)::bigint AS expansion_cents,
    sum(CASE WHEN v.change = 'return' AND x.in_month IS NOT TRUE THEN v.cents ELSE 0 END)::bigint AS reactivation_cents,
    sum(CASE WHEN v.change = 'price' OR v.change = 'return' AND x.in_month THEN greatest(v.before_cents - v.cents, 0) ELSE 0 END)::bigint AS contraction_cents,
    sum(CASE WHEN v.change = 'exit' THEN v.cents WHEN v.change = 'return' AND x.in_month THEN -v.before_cents ELSE 0 END)::bigint AS churn_cents
FROM (
    SELECT m.at, m.left_at, m.cents, lag(m.cents) OVER w AS before_cents,
        CASE WHEN m.kind = 'exit' AND m.is_renewal THEN 'none' WHEN m.kind = 'exit' THEN 'exit' WHEN m.is_renewal THEN 'price'
            WHEN row_number() OVER w = 1 THEN 'new' ELSE 'return' END AS change
    FROM (
        SELECT p.customer_id, p.movement_id, p.kind, p.at, p.is_renewal, p.left_at,
            CASE WHEN c.subscription_id IS NULL THEN s.price_cents ELSE finance.price_before(p.subscription_id, p.movement_id) END AS cents
        FROM finance.movements p
        JOIN subscriptions.subscriptions s ON s.id = p.subscription_id
        LEFT JOIN (SELECT DISTINCT k.subscription_id FROM finance.price_changes k) c ON c.subscription_id = p.subscription_id
    ) m
    WINDOW w AS (PARTITION BY m.customer_id ORDER BY m.movement_id)
    UNION ALL
    SELECT q.at, NULL, q.to_cents, q.from_cents, 'price'
    FROM (
        SELECT DISTINCT ON (k.id) k.at, k.to_cents, k.from_cents, p.kind
        FROM finance.price_changes k JOIN finance.movements p ON p.subscription_id = k.subscription_id AND p.movement_id <= k.transition_id
        ORDER BY k.id, p.movement_id DESC
    ) q
    WHERE q.kind = 'entry'
) v
CROSS JOIN finance.settings z
CROSS JOIN LATERAL (SELECT finance.month_of(v.left_at, z.report_tz) = finance.month_of(v.at, z.report_tz) AS in_month) x
WHERE v.change <> 'none'
GROUP BY 1;
COMMENT ON VIEW finance_internal.mrr_scan IS 'The same as finance_internal.mrr_months, counted from finance.movements and finance.price_changes: slow, for checks.';
COMMENT ON COLUMN finance_internal.mrr_scan.month IS 'First day of the month, in the report time zone.';
COMMENT ON COLUMN finance_internal.mrr_scan.new_cents IS 'First activations ever of customers, cents a month.';
COMMENT ON COLUMN finance_internal.mrr_scan.expansion_cents IS 'Higher prices while active, cents.';
COMMENT ON COLUMN finance_internal.mrr_scan.reactivation_cents IS 'Returns after an exit, cents.';
COMMENT ON COLUMN finance_internal.mrr_scan.contraction_cents IS 'Lower prices while active, cents.';
COMMENT ON COLUMN finance_internal.mrr_scan.churn_cents IS 'Exits, cents.';
