CREATE OR REPLACE FUNCTION finance.rebuild_mrr() RETURNS void LANGUAGE plpgsql SET work_mem = '128MB' AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('finance.fold', 0));
    INSERT INTO finance.mrr_rollup AS r (month, new_cents, expansion_cents, reactivation_cents, contraction_cents, churn_cents)
    SELECT f.month, sum(f.sign * f.new_cents), sum(f.sign * f.expansion_cents), sum(f.sign * f.reactivation_cents), sum(f.sign * f.contraction_cents),
        sum(f.sign * f.churn_cents)
    FROM (
        SELECT 1 AS sign, c.* FROM finance_internal.mrr_scan c
        UNION ALL
        SELECT -1, k.* FROM finance_internal.mrr_months k
    ) f
    GROUP BY f.month
    ON CONFLICT (month) DO UPDATE SET
        new_cents = r.new_cents + excluded.new_cents,
        expansion_cents = r.expansion_cents + excluded.expansion_cents,
        reactivation_cents = r.reactivation_cents + excluded.reactivation_cents,
        contraction_cents = r.contraction_cents + excluded.contraction_cents,
        churn_cents = r.churn_cents + excluded.churn_cents;
END
$$;
COMMENT ON FUNCTION finance.rebuild_mrr() IS 'The part of finance.rebuild for the movements of MRR: by differences, so that transactions under way keep their deltas.';
