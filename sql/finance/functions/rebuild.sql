-- It sorts whole ledgers, and there is one of it at a time: hence the work_mem.
CREATE OR REPLACE FUNCTION finance.rebuild() RETURNS void LANGUAGE plpgsql SET work_mem = '128MB' AS $$
BEGIN
    PERFORM finance.rebuild_figures();
    PERFORM finance.rebuild_mrr();
    INSERT INTO finance.cohort_rollup AS r (cohort_month, month, customers, change)
    SELECT f.cohort_month, f.month, sum(f.customers), sum(f.change)
    FROM (
        SELECT c.cohort_month, c.month, c.customers, c.change FROM finance_internal.cohort_scan c
        UNION ALL
        SELECT k.cohort_month, k.month, -k.customers, -k.change FROM finance.cohort_months k
    ) f
    GROUP BY f.cohort_month, f.month
    HAVING sum(f.customers) <> 0 OR sum(f.change) <> 0
    ON CONFLICT (cohort_month, month) DO UPDATE SET customers = r.customers + excluded.customers, change = r.change + excluded.change;
    -- Rows and not differences: moves under way wait for the end, and then begin from what is written here.
    LOCK TABLE finance.customer_access IN SHARE ROW EXCLUSIVE MODE;
    CREATE TEMPORARY TABLE access_counted ON COMMIT DROP AS
    SELECT p.customer_id, min(p.at) AS first_at, coalesce(sum(finance.microseconds(p.at, p.next_at)) FILTER (WHERE p.closed), 0)::bigint AS closed_us,
        max(p.next_at) FILTER (WHERE p.closed) AS last_until, max(p.at) FILTER (WHERE NOT p.closed) AS open_at
    FROM (
        SELECT m.customer_id, m.kind, m.at, m.next_at, lead(m.movement_id) OVER (PARTITION BY m.customer_id ORDER BY m.movement_id) < 9223372036854775807 IS TRUE AS closed
        FROM finance.movements m
    ) p
    WHERE p.kind = 'entry'
    GROUP BY p.customer_id;
    DELETE FROM finance.customer_access a WHERE NOT EXISTS (SELECT FROM access_counted c WHERE c.customer_id = a.customer_id);
    INSERT INTO finance.customer_access AS a (customer_id, first_at, closed_us, last_until, open_at)
    SELECT c.customer_id, c.first_at, c.closed_us, c.last_until, c.open_at FROM access_counted c
    ON CONFLICT (customer_id) DO UPDATE
    SET first_at = excluded.first_at, closed_us = excluded.closed_us, last_until = excluded.last_until, open_at = excluded.open_at
    WHERE (a.first_at, a.closed_us, a.last_until, a.open_at) IS DISTINCT FROM (excluded.first_at, excluded.closed_us, excluded.last_until, excluded.open_at);
    DROP TABLE access_counted;
    LOCK TABLE finance.dues IN SHARE ROW EXCLUSIVE MODE;
    DELETE FROM finance.dues d WHERE NOT EXISTS (SELECT FROM finance_internal.due_scan c WHERE c.subscription_id = d.subscription_id);
    INSERT INTO finance.dues AS d (subscription_id, next_billing_date, otherwise_on)
    SELECT c.subscription_id, c.next_billing_date, c.otherwise_on FROM finance_internal.due_scan c
    ON CONFLICT (subscription_id) DO UPDATE SET next_billing_date = excluded.next_billing_date, otherwise_on = excluded.otherwise_on
    WHERE (d.next_billing_date, d.otherwise_on) IS DISTINCT FROM (excluded.next_billing_date, excluded.otherwise_on);
END
$$;
COMMENT ON FUNCTION finance.rebuild() IS 'Makes what is kept equal the scan: after rows were loaded with the triggers off, or when a check found differences. Reads every ledger whole; figures stay readable meanwhile, moves of subscriptions wait at the end.';
