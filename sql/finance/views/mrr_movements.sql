CREATE OR REPLACE VIEW finance.mrr_movements AS
SELECT m.month, (sum(m.change_cents) OVER w - m.change_cents)::bigint AS opening_cents, m.new_cents, m.expansion_cents, m.reactivation_cents,
    m.contraction_cents, m.churn_cents, (sum(m.change_cents) OVER w)::bigint AS closing_cents
FROM (
    SELECT k.month, coalesce(f.new_cents, 0) AS new_cents, coalesce(f.expansion_cents, 0) AS expansion_cents,
        coalesce(f.reactivation_cents, 0) AS reactivation_cents, coalesce(f.contraction_cents, 0) AS contraction_cents, coalesce(f.churn_cents, 0) AS churn_cents,
        coalesce(f.new_cents + f.expansion_cents + f.reactivation_cents - f.contraction_cents - f.churn_cents, 0) AS change_cents
    FROM (
        SELECT g.month::date AS month
        FROM (SELECT min(b.month) AS first_month, max(b.month) AS last_month FROM finance_internal.mrr_months b) e CROSS JOIN finance.clock c
        CROSS JOIN LATERAL generate_series(e.first_month::timestamp, greatest(c.today, e.last_month)::timestamp, interval '1 month') AS g (month)
    ) k
    LEFT JOIN finance_internal.mrr_months f ON f.month = k.month
) m
WINDOW w AS (ORDER BY m.month);
COMMENT ON VIEW finance.mrr_movements IS 'How monthly recurring revenue moved, one row for each month from the first on, exact at any moment, by customer: opening + new + expansion + reactivation - contraction - churn = closing in every row, and closing is the opening of the next. A return within the month of its exit is neither, but for the difference of its price. The month of access that begins and ends counts; a renewal counts only its other price. Source: what subscriptions.transitions and finance.price_changes add up to.';
COMMENT ON COLUMN finance.mrr_movements.month IS 'First day of the month, in the report time zone.';
COMMENT ON COLUMN finance.mrr_movements.opening_cents IS 'MRR at its beginning, cents.';
COMMENT ON COLUMN finance.mrr_movements.new_cents IS 'MRR of customers who were active for the first time ever, trials among them, cents.';
COMMENT ON COLUMN finance.mrr_movements.expansion_cents IS 'What higher prices of active customers added, cents.';
COMMENT ON COLUMN finance.mrr_movements.reactivation_cents IS 'MRR of customers who came back after an exit, cents.';
COMMENT ON COLUMN finance.mrr_movements.contraction_cents IS 'What lower prices of active customers took away, cents.';
COMMENT ON COLUMN finance.mrr_movements.churn_cents IS 'MRR of customers who left, as it was when they did, cents.';
COMMENT ON COLUMN finance.mrr_movements.closing_cents IS 'MRR at its end, cents; of the present month, now: mrr_cents of finance.overview.';
