CREATE OR REPLACE FUNCTION finance.figure_differences() RETURNS TABLE (rollup text, key text, figure text, kept bigint, counted bigint) LANGUAGE sql STABLE AS $$
SELECT 'daily'::text AS rollup, coalesce(k.day, c.day)::text AS key, v.figure, v.kept, v.counted
FROM finance.daily k FULL JOIN finance_internal.daily_scan c ON c.day = k.day
CROSS JOIN LATERAL (
    SELECT 'gross_gwa_cents'::text AS figure, coalesce(k.gross_gwa_cents, 0) AS kept, coalesce(c.gross_gwa_cents, 0) AS counted
    UNION ALL SELECT 'gross_gwb_cents', coalesce(k.gross_gwb_cents, 0), coalesce(c.gross_gwb_cents, 0)
    UNION ALL SELECT 'payments', coalesce(k.payments, 0), coalesce(c.payments, 0)
    UNION ALL SELECT 'failed_attempts', coalesce(k.failed_attempts, 0), coalesce(c.failed_attempts, 0)
    UNION ALL SELECT 'refunds_cents', coalesce(k.refunds_cents, 0), coalesce(c.refunds_cents, 0)
    UNION ALL SELECT 'chargebacks_cents', coalesce(k.chargebacks_cents, 0), coalesce(c.chargebacks_cents, 0)
    UNION ALL SELECT 'entries', coalesce(k.entries, 0), coalesce(c.entries, 0)
    UNION ALL SELECT 'exits_payment_failure', coalesce(k.exits_payment_failure, 0), coalesce(c.exits_payment_failure, 0)
    UNION ALL SELECT 'exits_customer_cancelled', coalesce(k.exits_customer_cancelled, 0), coalesce(c.exits_customer_cancelled, 0)
    UNION ALL SELECT 'exits_admin_cancelled', coalesce(k.exits_admin_cancelled, 0), coalesce(c.exits_admin_cancelled, 0)
    UNION ALL SELECT 'exits_chargeback', coalesce(k.exits_chargeback, 0), coalesce(c.exits_chargeback, 0)
    UNION ALL SELECT 'exits_expired', coalesce(k.exits_expired, 0), coalesce(c.exits_expired, 0)
    UNION ALL SELECT 'returned_in_day', coalesce(k.returned_in_day, 0), coalesce(c.returned_in_day, 0)
    UNION ALL SELECT 'returned_in_month_payment_failure', coalesce(k.returned_in_month_payment_failure, 0), coalesce(c.returned_in_month_payment_failure, 0)
    UNION ALL SELECT 'returned_in_month_customer_cancelled', coalesce(k.returned_in_month_customer_cancelled, 0), coalesce(c.returned_in_month_customer_cancelled, 0)
    UNION ALL SELECT 'returned_in_month_admin_cancelled', coalesce(k.returned_in_month_admin_cancelled, 0), coalesce(c.returned_in_month_admin_cancelled, 0)
    UNION ALL SELECT 'returned_in_month_chargeback', coalesce(k.returned_in_month_chargeback, 0), coalesce(c.returned_in_month_chargeback, 0)
    UNION ALL SELECT 'returned_in_month_expired', coalesce(k.returned_in_month_expired, 0), coalesce(c.returned_in_month_expired, 0)
) v
WHERE v.kept <> v.counted
UNION ALL
SELECT 'returns', coalesce(k.day, c.day)::text || ' after ' || coalesce(k.left_day, c.left_day)::text, 'returns', coalesce(k.returns, 0), coalesce(c.returns, 0)
FROM finance.returns k FULL JOIN finance_internal.return_scan c ON c.day = k.day AND c.left_day = k.left_day
WHERE coalesce(k.returns, 0) <> coalesce(c.returns, 0)
UNION ALL
SELECT 'standing', concat_ws(' ', coalesce(k.gateway, c.gateway), coalesce(k.payment_method, c.payment_method), coalesce(k.plan_id, c.plan_id)), v.figure, v.kept, v.counted
FROM finance.standing k FULL JOIN finance_internal.standing_scan c ON c.gateway = k.gateway AND c.payment_method = k.payment_method AND c.plan_id = k.plan_id
CROSS JOIN LATERAL (
    SELECT 'active'::text AS figure, coalesce(k.active, 0) AS kept, coalesce(c.active, 0) AS counted
    UNION ALL SELECT 'mrr_cents', coalesce(k.mrr_cents, 0), coalesce(c.mrr_cents, 0)
    UNION ALL SELECT 'trials', coalesce(k.trials, 0), coalesce(c.trials, 0)
    UNION ALL SELECT 'trial_mrr_cents', coalesce(k.trial_mrr_cents, 0), coalesce(c.trial_mrr_cents, 0)
    UNION ALL SELECT 'overdue', coalesce(k.overdue, 0), coalesce(c.overdue, 0)
    UNION ALL SELECT 'at_risk_cents', coalesce(k.at_risk_cents, 0), coalesce(c.at_risk_cents, 0)
    UNION ALL SELECT 'customers', coalesce(k.customers, 0), coalesce(c.customers, 0)
) v
WHERE v.kept <> v.counted
$$;
COMMENT ON FUNCTION finance.figure_differences() IS 'The part of finance.rollup_differences for figures by day and present figures.';
