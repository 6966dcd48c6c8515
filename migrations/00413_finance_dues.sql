-- +goose Up
-- Since when each overdue subscription is due took a look into its failures, of
-- all of them for each page. It is kept a row a subscription, so that a page is
-- read by an index.
CREATE TABLE finance.dues (
    subscription_id   platform.object_id PRIMARY KEY,
    next_billing_date timestamptz,
    otherwise_on      date NOT NULL
);
COMMENT ON TABLE finance.dues IS 'The overdue subscriptions, kept by triggers in the transaction of each change. Read finance.overdue.';
COMMENT ON COLUMN finance.dues.next_billing_date IS 'Due then, once it is past.';
COMMENT ON COLUMN finance.dues.otherwise_on IS 'The day, in the report time zone, on which it is due otherwise: of the first failure of the run, else last_payment_at plus the period, else infinity.';
CREATE INDEX dues_by_next_billing ON finance.dues (next_billing_date);
CREATE INDEX dues_by_other_day ON finance.dues (otherwise_on) INCLUDE (next_billing_date);

CREATE VIEW finance.due_scan AS
SELECT s.id AS subscription_id, s.next_billing_date,
    coalesce(
        (SELECT (min(f.failed_at) AT TIME ZONE z.report_tz)::date FROM payments.failed_attempts f
         WHERE f.purpose = 'subscription' AND f.local_id = s.id AND (s.last_payment_at IS NULL OR f.failed_at > s.last_payment_at)),
        ((s.last_payment_at AT TIME ZONE z.report_tz) + make_interval(months => s.period_months))::date,
        'infinity') AS otherwise_on
FROM subscriptions.subscriptions s CROSS JOIN finance.settings z
WHERE (s.payment_failures > 0 OR s.status = 'suspended') AND s.status NOT IN ('cancelled', 'expired');

-- +goose StatementBegin
CREATE FUNCTION finance.keep_due(id text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO finance.dues (subscription_id, next_billing_date, otherwise_on)
    SELECT c.subscription_id, c.next_billing_date, c.otherwise_on FROM finance.due_scan c WHERE c.subscription_id = id
    ON CONFLICT (subscription_id) DO UPDATE SET next_billing_date = excluded.next_billing_date, otherwise_on = excluded.otherwise_on;
    IF NOT FOUND THEN
        DELETE FROM finance.dues d WHERE d.subscription_id = id;
    END IF;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION finance.keep_due(text) IS 'Writes down since when a subscription is due, or that it is not overdue.';

-- +goose StatementBegin
CREATE FUNCTION finance.note_due() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM finance.keep_due(coalesce(NEW.id, OLD.id));
    RETURN NULL;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION finance.note_due() IS 'Keeps finance.dues when subscriptions change.';
CREATE TRIGGER finance_due_added AFTER INSERT ON subscriptions.subscriptions FOR EACH ROW
    WHEN (NEW.payment_failures > 0 OR NEW.status = 'suspended') EXECUTE FUNCTION finance.note_due();
CREATE TRIGGER finance_due_removed AFTER DELETE ON subscriptions.subscriptions FOR EACH ROW EXECUTE FUNCTION finance.note_due();
CREATE TRIGGER finance_due_changed AFTER UPDATE ON subscriptions.subscriptions FOR EACH ROW
    WHEN ((OLD.payment_failures > 0 OR OLD.status = 'suspended' OR NEW.payment_failures > 0 OR NEW.status = 'suspended')
        AND (OLD.payment_failures > 0, OLD.status, OLD.next_billing_date, OLD.last_payment_at, OLD.period_months)
        IS DISTINCT FROM (NEW.payment_failures > 0, NEW.status, NEW.next_billing_date, NEW.last_payment_at, NEW.period_months))
    EXECUTE FUNCTION finance.note_due();

-- +goose StatementBegin
CREATE FUNCTION finance.note_failure_due() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    subject text;
BEGIN
    FOR subject IN SELECT DISTINCT x.id FROM (VALUES (NEW.purpose, NEW.local_id), (OLD.purpose, OLD.local_id)) AS x (purpose, id) WHERE x.purpose = 'subscription' LOOP
        -- Whoever changes the subscription meanwhile sees the failure, or is seen here.
        PERFORM FROM subscriptions.subscriptions s WHERE s.id = subject FOR NO KEY UPDATE;
        IF FOUND THEN
            PERFORM finance.keep_due(subject);
        END IF;
    END LOOP;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION finance.note_failure_due() IS 'Keeps finance.dues when failed attempts are told of; NEW or OLD is all null where there is none. It holds the subscription''s row, as whoever records a failure does.';
CREATE TRIGGER finance_failure_due_added AFTER INSERT OR DELETE ON payments.failed_attempts FOR EACH ROW EXECUTE FUNCTION finance.note_failure_due();
CREATE TRIGGER finance_failure_due_changed AFTER UPDATE ON payments.failed_attempts FOR EACH ROW
    WHEN ((OLD.purpose, OLD.local_id, OLD.failed_at) IS DISTINCT FROM (NEW.purpose, NEW.local_id, NEW.failed_at)) EXECUTE FUNCTION finance.note_failure_due();

CREATE OR REPLACE VIEW finance.overdue AS
SELECT o.subscription_id, o.customer_id, o.plan_id, o.plan_name, o.gateway, o.payment_method, o.status AS subscription_status, o.price_cents AS amount_cents,
    o.payment_failures, o.last_payment_at, o.next_billing_date, o.due_on,
    greatest(coalesce(o.today - o.due_on, 0), 0) AS days_overdue
FROM (
    SELECT s.subscription_id, s.customer_id, s.plan_id, s.plan_name, s.gateway, s.payment_method, s.status, s.price_cents, s.payment_failures,
        s.last_payment_at, s.next_billing_date, c.today,
        CASE WHEN d.next_billing_date < c.now THEN (d.next_billing_date AT TIME ZONE c.report_tz)::date ELSE nullif(d.otherwise_on, 'infinity') END AS due_on
    FROM finance.dues d
    CROSS JOIN (SELECT k.now, k.today, k.report_tz FROM finance.clock k OFFSET 0) c
    JOIN finance.subscriptions s ON s.subscription_id = d.subscription_id
) o;

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION finance.rollup_differences() RETURNS TABLE (rollup text, key text, figure text, kept bigint, counted bigint) LANGUAGE sql STABLE AS $$
SELECT * FROM finance.figure_differences()
UNION ALL
SELECT 'cohorts', coalesce(k.cohort_month, c.cohort_month) || ' in ' || coalesce(k.month, c.month), v.figure, v.kept, v.counted
FROM finance.cohort_months k FULL JOIN finance.cohort_scan c ON c.cohort_month = k.cohort_month AND c.month = k.month
CROSS JOIN LATERAL (
    SELECT 'customers'::text AS figure, coalesce(k.customers, 0) AS kept, coalesce(c.customers, 0) AS counted
    UNION ALL SELECT 'change', coalesce(k.change, 0), coalesce(c.change, 0)
) v
WHERE v.kept <> v.counted
UNION ALL
SELECT 'tenure', coalesce(k.customer_id, c.customer_id), 'access_days', k.access_days, c.access_days
FROM finance.tenure k FULL JOIN finance.tenure_scan c ON c.customer_id = k.customer_id
WHERE (k.first_access_at, k.last_access_at, k.is_active, k.access_days) IS DISTINCT FROM (c.first_access_at, c.last_access_at, c.is_active, c.access_days)
UNION ALL
SELECT 'dues', coalesce(k.subscription_id, c.subscription_id), 'otherwise_on', k.otherwise_on - date '2000-01-01', c.otherwise_on - date '2000-01-01'
FROM (SELECT d.subscription_id, d.next_billing_date, nullif(d.otherwise_on, 'infinity') AS otherwise_on FROM finance.dues d) k
FULL JOIN (SELECT d.subscription_id, d.next_billing_date, nullif(d.otherwise_on, 'infinity') AS otherwise_on FROM finance.due_scan d) c ON c.subscription_id = k.subscription_id
WHERE (k.subscription_id, k.next_billing_date, k.otherwise_on) IS DISTINCT FROM (c.subscription_id, c.next_billing_date, c.otherwise_on)
$$;
-- +goose StatementEnd

COMMENT ON FUNCTION finance.rollup_differences() IS 'Where what is kept differs from the scan, by rollup (daily, returns, standing, cohorts, tenure, dues), row and column: what is kept and what the ledgers say. Empty at any moment; slow.';
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION finance.rebuild() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM finance.rebuild_figures();
    INSERT INTO finance.cohort_rollup AS r (cohort_month, month, customers, change)
    SELECT f.cohort_month, f.month, sum(f.customers), sum(f.change)
    FROM (
        SELECT c.cohort_month, c.month, c.customers, c.change FROM finance.cohort_scan c
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
    DELETE FROM finance.dues d WHERE NOT EXISTS (SELECT FROM finance.due_scan c WHERE c.subscription_id = d.subscription_id);
    INSERT INTO finance.dues AS d (subscription_id, next_billing_date, otherwise_on)
    SELECT c.subscription_id, c.next_billing_date, c.otherwise_on FROM finance.due_scan c
    ON CONFLICT (subscription_id) DO UPDATE SET next_billing_date = excluded.next_billing_date, otherwise_on = excluded.otherwise_on
    WHERE (d.next_billing_date, d.otherwise_on) IS DISTINCT FROM (excluded.next_billing_date, excluded.otherwise_on);
END
$$;
-- +goose StatementEnd

-- Both sort whole ledgers; there is one of them at a time.
ALTER FUNCTION finance.rollup_differences() SET work_mem = '128MB';
ALTER FUNCTION finance.rebuild() SET work_mem = '128MB';
INSERT INTO finance.dues (subscription_id, next_billing_date, otherwise_on)
SELECT c.subscription_id, c.next_billing_date, c.otherwise_on FROM finance.due_scan c;
SELECT finance.grant_analysts();

COMMENT ON VIEW finance.due_scan IS 'Since when each overdue subscription is due, from the ledgers: slow, for checks. finance.overdue tells it of what is kept.';
COMMENT ON COLUMN finance.due_scan.subscription_id IS 'The subscription.';
COMMENT ON COLUMN finance.due_scan.next_billing_date IS 'Due then, once it is past; UTC.';
COMMENT ON COLUMN finance.due_scan.otherwise_on IS 'The day on which it is due otherwise, in the report time zone; infinity when nothing tells.';

-- +goose Down
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION finance.rebuild() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM finance.rebuild_figures();
    INSERT INTO finance.cohort_rollup AS r (cohort_month, month, customers, change)
    SELECT f.cohort_month, f.month, sum(f.customers), sum(f.change)
    FROM (
        SELECT c.cohort_month, c.month, c.customers, c.change FROM finance.cohort_scan c
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
END
$$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION finance.rollup_differences() RETURNS TABLE (rollup text, key text, figure text, kept bigint, counted bigint) LANGUAGE sql STABLE AS $$
SELECT * FROM finance.figure_differences()
UNION ALL
SELECT 'cohorts', coalesce(k.cohort_month, c.cohort_month) || ' in ' || coalesce(k.month, c.month), v.figure, v.kept, v.counted
FROM finance.cohort_months k FULL JOIN finance.cohort_scan c ON c.cohort_month = k.cohort_month AND c.month = k.month
CROSS JOIN LATERAL (
    SELECT 'customers'::text AS figure, coalesce(k.customers, 0) AS kept, coalesce(c.customers, 0) AS counted
    UNION ALL SELECT 'change', coalesce(k.change, 0), coalesce(c.change, 0)
) v
WHERE v.kept <> v.counted
UNION ALL
SELECT 'tenure', coalesce(k.customer_id, c.customer_id), 'access_days', k.access_days, c.access_days
FROM finance.tenure k FULL JOIN finance.tenure_scan c ON c.customer_id = k.customer_id
WHERE (k.first_access_at, k.last_access_at, k.is_active, k.access_days) IS DISTINCT FROM (c.first_access_at, c.last_access_at, c.is_active, c.access_days)
$$;
-- +goose StatementEnd

CREATE OR REPLACE VIEW finance.overdue AS
SELECT o.subscription_id, o.customer_id, o.plan_id, o.plan_name, o.gateway, o.payment_method, o.status AS subscription_status, o.price_cents AS amount_cents,
    o.payment_failures, o.last_payment_at, o.next_billing_date, o.due_on,
    greatest(coalesce((finance.now() AT TIME ZONE o.report_tz)::date - o.due_on, 0), 0) AS days_overdue
FROM (
    SELECT s.subscription_id, s.customer_id, s.plan_id, s.plan_name, s.gateway, s.payment_method, s.status, s.price_cents, s.payment_failures,
        s.last_payment_at, s.next_billing_date, z.report_tz,
        CASE WHEN s.next_billing_date < finance.now() THEN (s.next_billing_date AT TIME ZONE z.report_tz)::date
             ELSE coalesce(
                (SELECT (min(f.failed_at) AT TIME ZONE z.report_tz)::date FROM payments.failed_attempts f
                 WHERE f.purpose = 'subscription' AND f.local_id = s.subscription_id AND (s.last_payment_at IS NULL OR f.failed_at > s.last_payment_at)),
                ((s.last_payment_at AT TIME ZONE z.report_tz) + make_interval(months => s.period_months))::date)
        END AS due_on
    FROM finance.subscriptions s CROSS JOIN finance.settings z
    WHERE (s.payment_failures > 0 OR s.status = 'suspended') AND s.status NOT IN ('cancelled', 'expired')
) o;

DROP TRIGGER finance_failure_due_changed ON payments.failed_attempts;
DROP TRIGGER finance_failure_due_added ON payments.failed_attempts;
DROP TRIGGER finance_due_changed ON subscriptions.subscriptions;
DROP TRIGGER finance_due_removed ON subscriptions.subscriptions;
DROP TRIGGER finance_due_added ON subscriptions.subscriptions;
DROP FUNCTION finance.note_failure_due();
DROP FUNCTION finance.note_due();
DROP FUNCTION finance.keep_due(text);
DROP VIEW finance.due_scan;
DROP TABLE finance.dues;
