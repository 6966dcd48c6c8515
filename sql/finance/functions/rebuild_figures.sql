CREATE OR REPLACE FUNCTION finance.rebuild_figures() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    -- By differences and not anew: transactions under way keep their deltas, and
    -- each statement compares what one snapshot holds.
    PERFORM pg_advisory_xact_lock(hashtextextended('finance.fold', 0));
    INSERT INTO finance.daily_rollup AS r (day,
        gross_gwa_cents, gross_gwb_cents, payments, failed_attempts, refunds_cents, chargebacks_cents, entries, exits_payment_failure,
        exits_customer_cancelled, exits_admin_cancelled, exits_chargeback, exits_expired, returned_in_day, returned_in_month_payment_failure,
        returned_in_month_customer_cancelled, returned_in_month_admin_cancelled, returned_in_month_chargeback, returned_in_month_expired)
    SELECT f.day,
        sum(f.sign * f.gross_gwa_cents), sum(f.sign * f.gross_gwb_cents), sum(f.sign * f.payments), sum(f.sign * f.failed_attempts),
        sum(f.sign * f.refunds_cents), sum(f.sign * f.chargebacks_cents), sum(f.sign * f.entries), sum(f.sign * f.exits_payment_failure),
        sum(f.sign * f.exits_customer_cancelled), sum(f.sign * f.exits_admin_cancelled), sum(f.sign * f.exits_chargeback), sum(f.sign * f.exits_expired),
        sum(f.sign * f.returned_in_day), sum(f.sign * f.returned_in_month_payment_failure), sum(f.sign * f.returned_in_month_customer_cancelled),
        sum(f.sign * f.returned_in_month_admin_cancelled), sum(f.sign * f.returned_in_month_chargeback), sum(f.sign * f.returned_in_month_expired)
    FROM (
        SELECT 1 AS sign, c.* FROM finance_internal.daily_scan c
        UNION ALL
        SELECT -1, k.* FROM finance.daily k
    ) f
    GROUP BY f.day
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
        returned_in_month_expired = r.returned_in_month_expired + excluded.returned_in_month_expired;
    INSERT INTO finance.return_rollup AS r (day, left_day, returns)
    SELECT f.day, f.left_day, sum(f.returns)
    FROM (
        SELECT c.day, c.left_day, c.returns FROM finance_internal.return_scan c
        UNION ALL
        SELECT k.day, k.left_day, -k.returns FROM finance.returns k
    ) f
    GROUP BY f.day, f.left_day
    ON CONFLICT (day, left_day) DO UPDATE SET returns = r.returns + excluded.returns;
    INSERT INTO finance.standing_rollup AS r (gateway, payment_method, plan_id, active, mrr_cents, trials, trial_mrr_cents, overdue, at_risk_cents, customers)
    SELECT f.gateway, f.payment_method, f.plan_id, sum(f.sign * f.active), sum(f.sign * f.mrr_cents), sum(f.sign * f.trials), sum(f.sign * f.trial_mrr_cents), sum(f.sign * f.overdue), sum(f.sign * f.at_risk_cents), sum(f.sign * f.customers)
    FROM (
        SELECT 1 AS sign, c.* FROM finance_internal.standing_scan c
        UNION ALL
        SELECT -1, k.* FROM finance.standing k
    ) f
    GROUP BY f.gateway, f.payment_method, f.plan_id
    ON CONFLICT (gateway, payment_method, plan_id) DO UPDATE SET
        active = r.active + excluded.active,
        mrr_cents = r.mrr_cents + excluded.mrr_cents,
        trials = r.trials + excluded.trials,
        trial_mrr_cents = r.trial_mrr_cents + excluded.trial_mrr_cents,
        overdue = r.overdue + excluded.overdue,
        at_risk_cents = r.at_risk_cents + excluded.at_risk_cents,
        customers = r.customers + excluded.customers;
END
$$;
COMMENT ON FUNCTION finance.rebuild_figures() IS 'The part of finance.rebuild for figures by day and present figures.';
