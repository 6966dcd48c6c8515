CREATE OR REPLACE VIEW finance_internal.mrr_changes AS
SELECT finance.month_of(c.at, c.report_tz) AS month, c.at, c.kind, c.customer_id, c.subscription_id, c.reason, c.before_cents, c.after_cents,
    c.after_cents - c.before_cents AS change_cents
FROM (
    SELECT v.at, z.report_tz, v.customer_id, v.subscription_id, CASE WHEN v.change = 'exit' THEN v.reason END AS reason,
        CASE WHEN v.change = 'exit' THEN 'churn' WHEN v.change = 'new' THEN 'new' WHEN v.change = 'return' AND x.in_month IS NOT TRUE THEN 'reactivation'
            WHEN v.after_cents > v.before_cents THEN 'expansion' ELSE 'contraction' END AS kind,
        CASE WHEN v.change = 'new' OR v.change = 'return' AND x.in_month IS NOT TRUE THEN 0 ELSE v.before_cents END AS before_cents, v.after_cents
    FROM (
        SELECT m.customer_id, m.subscription_id, m.at, m.reason, m.left_at, m.returned_at,
            CASE WHEN m.kind = 'exit' THEN m.cents ELSE lag(m.cents) OVER w END AS before_cents, CASE WHEN m.kind = 'exit' THEN 0 ELSE m.cents END AS after_cents,
            CASE WHEN m.kind = 'exit' AND m.is_renewal THEN 'none' WHEN m.kind = 'exit' THEN 'exit' WHEN m.is_renewal THEN 'price'
                WHEN row_number() OVER w = 1 THEN 'new' ELSE 'return' END AS change
        FROM (
            SELECT p.customer_id, p.subscription_id, p.movement_id, p.kind, p.at, p.reason, p.is_renewal, p.left_at, p.returned_at,
                CASE WHEN EXISTS (SELECT FROM finance.price_changes k WHERE k.subscription_id = p.subscription_id)
                    THEN finance.price_before(p.subscription_id, p.movement_id) ELSE s.price_cents END AS cents
            FROM finance.movements p
            JOIN subscriptions.subscriptions s ON s.id = p.subscription_id
        ) m
        WINDOW w AS (PARTITION BY m.customer_id ORDER BY m.movement_id)
        UNION ALL
        SELECT s.customer_id::text, s.id::text, k.at, NULL, NULL, NULL, k.from_cents, k.to_cents, 'price'
        FROM finance.price_changes k
        JOIN subscriptions.subscriptions s ON s.id = k.subscription_id
        CROSS JOIN LATERAL (
            SELECT p.kind FROM finance.movements p
            WHERE p.customer_id = s.customer_id AND p.subscription_id = s.id AND p.movement_id <= k.transition_id
            ORDER BY p.movement_id DESC LIMIT 1
        ) q
        WHERE q.kind = 'entry'
    ) v
    CROSS JOIN finance.settings z
    CROSS JOIN LATERAL (SELECT finance.month_of(coalesce(v.left_at, v.returned_at), z.report_tz) = finance.month_of(v.at, z.report_tz) AS in_month) x
    WHERE v.change = 'new' OR v.change = 'exit' AND x.in_month IS NOT TRUE OR v.change = 'return' AND x.in_month IS NOT TRUE
        OR v.change IN ('price', 'return') AND v.before_cents <> v.after_cents
) c;
COMMENT ON VIEW finance_internal.mrr_changes IS 'Every change of MRR, one row each: by month and kind they add up to finance.mrr_movements, to the cent. A subscription that returns within the month of its exit has neither the exit nor the return, but the difference of its price. Of some months read finance.mrr_changes_between, of few customers this. Source: finance.movements and finance.price_changes.';
COMMENT ON COLUMN finance_internal.mrr_changes.month IS 'First day of the month of at, in the report time zone.';
COMMENT ON COLUMN finance_internal.mrr_changes.at IS 'When it counts, UTC: access begun or stopped, or another price.';
COMMENT ON COLUMN finance_internal.mrr_changes.kind IS 'new, expansion, reactivation, contraction or churn.';
COMMENT ON COLUMN finance_internal.mrr_changes.customer_id IS 'The customer (finance.customers); stays when they are deleted.';
COMMENT ON COLUMN finance_internal.mrr_changes.subscription_id IS 'The subscription (finance.subscriptions); null when it is not about one.';
COMMENT ON COLUMN finance_internal.mrr_changes.reason IS 'Of churn: payment_failure, customer_cancelled, admin_cancelled, chargeback or expired; null for others.';
COMMENT ON COLUMN finance_internal.mrr_changes.before_cents IS 'Price a month before it, cents; 0 of new and reactivation.';
COMMENT ON COLUMN finance_internal.mrr_changes.after_cents IS 'Price a month after it, cents; 0 of churn.';
COMMENT ON COLUMN finance_internal.mrr_changes.change_cents IS 'What it added to MRR, cents; negative of contraction and churn.';
