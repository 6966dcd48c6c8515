CREATE OR REPLACE FUNCTION finance.fold(at_most integer) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    folded bigint;
    more bigint;
BEGIN
    -- Whoever folds, folds alone; the figures are right meanwhile, folded or not.
    IF NOT pg_try_advisory_xact_lock(hashtextextended('finance.fold', 0)) THEN
        RETURN 0;
    END IF;
    WITH gone AS (
        DELETE FROM finance.daily_deltas WHERE id IN (SELECT id FROM finance.daily_deltas ORDER BY id LIMIT at_most) RETURNING *
    ), days AS (
        INSERT INTO finance.daily_rollup AS r (day,
            gross_gwa_cents, gross_gwb_cents, payments, failed_attempts, refunds_cents, chargebacks_cents, entries, exits_payment_failure,
            exits_customer_cancelled, exits_admin_cancelled, exits_chargeback, exits_expired, returned_in_day, returned_in_month_payment_failure,
            returned_in_month_customer_cancelled, returned_in_month_admin_cancelled, returned_in_month_chargeback, returned_in_month_expired)
        SELECT (d.at AT TIME ZONE z.report_tz)::date AS day,
            coalesce(sum(d.gross_gwa_cents), 0)::bigint AS gross_gwa_cents,
            coalesce(sum(d.gross_gwb_cents), 0)::bigint AS gross_gwb_cents,
            coalesce(sum(d.payments), 0)::bigint AS payments,
            coalesce(sum(d.failed_attempts), 0)::bigint AS failed_attempts,
            coalesce(sum(d.refunds_cents), 0)::bigint AS refunds_cents,
            coalesce(sum(d.chargebacks_cents), 0)::bigint AS chargebacks_cents,
            coalesce(sum(d.entries), 0)::bigint AS entries,
            coalesce(sum(d.exits) FILTER (WHERE d.reason = 'payment_failure'), 0)::bigint AS exits_payment_failure,
            coalesce(sum(d.exits) FILTER (WHERE d.reason = 'customer_cancelled'), 0)::bigint AS exits_customer_cancelled,
            coalesce(sum(d.exits) FILTER (WHERE d.reason = 'admin_cancelled'), 0)::bigint AS exits_admin_cancelled,
            coalesce(sum(d.exits) FILTER (WHERE d.reason = 'chargeback'), 0)::bigint AS exits_chargeback,
            coalesce(sum(d.exits) FILTER (WHERE d.reason = 'expired'), 0)::bigint AS exits_expired,
            coalesce(sum(d.entries) FILTER (WHERE (d.left_at AT TIME ZONE z.report_tz)::date = (d.at AT TIME ZONE z.report_tz)::date), 0)::bigint AS returned_in_day,
            coalesce(sum(d.entries) FILTER (WHERE d.reason = 'payment_failure' AND date_trunc('month', d.left_at AT TIME ZONE z.report_tz) = date_trunc('month', d.at AT TIME ZONE z.report_tz)), 0)::bigint AS returned_in_month_payment_failure,
            coalesce(sum(d.entries) FILTER (WHERE d.reason = 'customer_cancelled' AND date_trunc('month', d.left_at AT TIME ZONE z.report_tz) = date_trunc('month', d.at AT TIME ZONE z.report_tz)), 0)::bigint AS returned_in_month_customer_cancelled,
            coalesce(sum(d.entries) FILTER (WHERE d.reason = 'admin_cancelled' AND date_trunc('month', d.left_at AT TIME ZONE z.report_tz) = date_trunc('month', d.at AT TIME ZONE z.report_tz)), 0)::bigint AS returned_in_month_admin_cancelled,
            coalesce(sum(d.entries) FILTER (WHERE d.reason = 'chargeback' AND date_trunc('month', d.left_at AT TIME ZONE z.report_tz) = date_trunc('month', d.at AT TIME ZONE z.report_tz)), 0)::bigint AS returned_in_month_chargeback,
            coalesce(sum(d.entries) FILTER (WHERE d.reason = 'expired' AND date_trunc('month', d.left_at AT TIME ZONE z.report_tz) = date_trunc('month', d.at AT TIME ZONE z.report_tz)), 0)::bigint AS returned_in_month_expired
        FROM gone d CROSS JOIN finance.settings z
        GROUP BY 1
        ON CONFLICT (day) DO UPDATE SET
            gross_gwa_cents = r.gross_gwa_cents + excluded.gross_gwa_cents,
            gross_gwb_cents = r.gross_gwb_cents + excluded.gross_gwb_cents,
            payments = r.payments + excluded.payments,
            failed_attempts = r.failed_attempts + excluded.failed_attempts,
            refunds_cents = r.refunds_cents + excluded.refunds_cents,
            chargebacks_cents = r.chargebacks_cents + excluded.chargebacks_cents,
            entries = r.entries + excluded.entries,
            exits_payment_failure = r.exits_payment_failure + excluded.exits_payment_failure,
            exits_customer_cancelled = r.exits_customer_cancelled + excluded.exits_customer_cancelled,
            exits_admin_cancelled = r.exits_admin_cancelled + excluded.exits_admin_cancelled,
            exits_chargeback = r.exits_chargeback + excluded.exits_chargeback,
            exits_expired = r.exits_expired + excluded.exits_expired,
            returned_in_day = r.returned_in_day + excluded.returned_in_day,
            returned_in_month_payment_failure = r.returned_in_month_payment_failure + excluded.returned_in_month_payment_failure,
            returned_in_month_customer_cancelled = r.returned_in_month_customer_cancelled + excluded.returned_in_month_customer_cancelled,
            returned_in_month_admin_cancelled = r.returned_in_month_admin_cancelled + excluded.returned_in_month_admin_cancelled,
            returned_in_month_chargeback = r.returned_in_month_chargeback + excluded.returned_in_month_chargeback,
            returned_in_month_expired = r.returned_in_month_expired + excluded.returned_in_month_expired
    ), returned AS (
        INSERT INTO finance.return_rollup AS r (day, left_day, returns)
        SELECT (d.at AT TIME ZONE z.report_tz)::date, (d.left_at AT TIME ZONE z.report_tz)::date, sum(d.entries)
        FROM gone d CROSS JOIN finance.settings z WHERE d.left_at IS NOT NULL
        GROUP BY 1, 2
        ON CONFLICT (day, left_day) DO UPDATE SET returns = r.returns + excluded.returns
    ), cohorts AS (
        INSERT INTO finance.cohort_rollup AS r (cohort_month, month, customers, change)
        SELECT finance.month_of(d.first_at, z.report_tz), finance.month_of(d.at, z.report_tz), sum(d.firsts), sum(d.entries - d.exits)
        FROM gone d CROSS JOIN finance.settings z WHERE d.first_at IS NOT NULL
        GROUP BY 1, 2
        ON CONFLICT (cohort_month, month) DO UPDATE SET customers = r.customers + excluded.customers, change = r.change + excluded.change
    )
    SELECT count(*) INTO folded FROM gone;
    WITH gone AS (
        DELETE FROM finance.standing_deltas WHERE id IN (SELECT id FROM finance.standing_deltas ORDER BY id LIMIT at_most) RETURNING *
    ), present AS (
        INSERT INTO finance.standing_rollup AS r (gateway, payment_method, plan_id, active, mrr_cents, trials, trial_mrr_cents, overdue, at_risk_cents, customers)
        SELECT d.gateway, d.payment_method, d.plan_id, sum(d.active), sum(d.mrr_cents), sum(d.trials), sum(d.trial_mrr_cents), sum(d.overdue), sum(d.at_risk_cents), sum(d.customers)
        FROM gone d
        GROUP BY d.gateway, d.payment_method, d.plan_id
        ON CONFLICT (gateway, payment_method, plan_id) DO UPDATE SET
            active = r.active + excluded.active,
            mrr_cents = r.mrr_cents + excluded.mrr_cents,
            trials = r.trials + excluded.trials,
            trial_mrr_cents = r.trial_mrr_cents + excluded.trial_mrr_cents,
            overdue = r.overdue + excluded.overdue,
            at_risk_cents = r.at_risk_cents + excluded.at_risk_cents,
            customers = r.customers + excluded.customers
    )
    SELECT count(*) INTO more FROM gone;
    folded := folded + more;
    WITH gone AS (
        DELETE FROM finance.mrr_deltas WHERE id IN (SELECT id FROM finance.mrr_deltas ORDER BY id LIMIT at_most) RETURNING *
    ), months AS (
        INSERT INTO finance.mrr_rollup AS r (month, new_cents, expansion_cents, reactivation_cents, contraction_cents, churn_cents)
        SELECT finance.month_of(d.at, z.report_tz), sum(d.new_cents),
            sum(d.expansion_cents + CASE WHEN x.in_month THEN greatest(d.reactivation_cents - d.left_cents, 0) ELSE 0 END),
            sum(CASE WHEN x.in_month THEN 0 ELSE d.reactivation_cents END),
            sum(d.contraction_cents + CASE WHEN x.in_month THEN greatest(d.left_cents - d.reactivation_cents, 0) ELSE 0 END),
            sum(d.churn_cents - CASE WHEN x.in_month THEN d.left_cents ELSE 0 END)
        FROM gone d CROSS JOIN finance.settings z
        CROSS JOIN LATERAL (SELECT finance.month_of(d.left_at, z.report_tz) = finance.month_of(d.at, z.report_tz) AS in_month) x
        GROUP BY 1
        ON CONFLICT (month) DO UPDATE SET
            new_cents = r.new_cents + excluded.new_cents,
            expansion_cents = r.expansion_cents + excluded.expansion_cents,
            reactivation_cents = r.reactivation_cents + excluded.reactivation_cents,
            contraction_cents = r.contraction_cents + excluded.contraction_cents,
            churn_cents = r.churn_cents + excluded.churn_cents
    )
    SELECT count(*) INTO more FROM gone;
    RETURN folded + more;
END
$$;
COMMENT ON FUNCTION finance.fold(integer) IS 'Moves the oldest deltas, at most so many of each kind, into the rollups, and returns how many there were; 0 also while somebody else folds. No figure changes by it.';
