-- +goose Up
-- Cohorts and tenure by whole lives took seconds at a million customers. Cohorts
-- are sums, so the deltas tell of them as well; tenure is kept a row a customer.
ALTER TABLE finance.daily_deltas ADD COLUMN first_at timestamptz, ADD COLUMN firsts bigint NOT NULL DEFAULT 0;
COMMENT ON COLUMN finance.daily_deltas.first_at IS 'Of entries and exits: when the customer first had access. Null in what was written before there were cohorts here.';
COMMENT ON COLUMN finance.daily_deltas.firsts IS 'Of the entries, first ones of a customer.';

CREATE TABLE finance.cohort_rollup (
    cohort_month date NOT NULL,
    month        date NOT NULL,
    customers    bigint NOT NULL DEFAULT 0,
    change       bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (cohort_month, month)
);
COMMENT ON TABLE finance.cohort_rollup IS 'Folded deltas: by month of the first access, how many more customers of the cohort had access at the end of a month than at its beginning. Read finance.cohorts.';
COMMENT ON COLUMN finance.cohort_rollup.customers IS 'First accesses of the month: in rows of the cohort''s own month alone.';

CREATE TABLE finance.customer_access (
    customer_id platform.object_id PRIMARY KEY,
    first_at    timestamptz NOT NULL,
    closed_us   bigint NOT NULL DEFAULT 0,
    last_until  timestamptz,
    open_at     timestamptz
);
COMMENT ON TABLE finance.customer_access IS 'How long each customer has had access, kept by the trigger of subscriptions.transitions in the transaction of each move. Read finance.tenure.';
COMMENT ON COLUMN finance.customer_access.closed_us IS 'Sum of the periods of access that have ended, microseconds.';
COMMENT ON COLUMN finance.customer_access.last_until IS 'The latest end of these.';
COMMENT ON COLUMN finance.customer_access.open_at IS 'When the present period began; null without access.';

CREATE FUNCTION finance.microseconds(since timestamptz, until timestamptz) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$SELECT greatest((date_part('epoch', until - since) * 1000000)::bigint, 0)$$;
COMMENT ON FUNCTION finance.microseconds(timestamptz, timestamptz) IS 'Length of a period of access, at least 0.';
CREATE FUNCTION finance.month_of(at timestamptz, zone text) RETURNS date
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$SELECT date_trunc('month', at AT TIME ZONE zone)::date$$;
COMMENT ON FUNCTION finance.month_of(timestamptz, text) IS 'First day of the month in which an instant lies, in a time zone.';

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION finance.note_transition() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    ended timestamptz;
    first_entry timestamptz;
    before record;
BEGIN
    SELECT t.at INTO first_entry FROM subscriptions.transitions t
    WHERE t.customer_id = NEW.customer_id AND t.to_status = 'active' AND t.id <= NEW.id ORDER BY t.id LIMIT 1;
    IF NEW.from_status = 'active' THEN
        SELECT greatest(s.expires_at, e.at) INTO ended
        FROM subscriptions.subscriptions s
        JOIN LATERAL (SELECT t.at FROM subscriptions.transitions t
            WHERE t.subscription_id = s.id AND t.to_status = 'active' AND t.id < NEW.id ORDER BY t.id DESC LIMIT 1) e ON true
        WHERE s.id = NEW.subscription_id AND s.expires_at < NEW.at;
        IF ended < NEW.at THEN
            INSERT INTO finance.access_ends (transition_id, ended_at) VALUES (NEW.id, ended);
        END IF;
        ended := least(ended, NEW.at);
        INSERT INTO finance.daily_deltas (at, first_at, reason, exits) VALUES (ended, first_entry, finance.exit_reason(NEW.reason), 1);
        UPDATE finance.customer_access a
        SET closed_us = a.closed_us + finance.microseconds(a.open_at, ended), last_until = greatest(a.last_until, ended), open_at = NULL
        WHERE a.customer_id = NEW.customer_id AND a.open_at IS NOT NULL;
        RETURN NULL;
    END IF;
    INSERT INTO finance.customer_access AS a (customer_id, first_at, open_at) VALUES (NEW.customer_id, NEW.at, NEW.at)
    ON CONFLICT (customer_id) DO UPDATE
    SET closed_us = a.closed_us + CASE WHEN a.open_at IS NULL THEN 0 ELSE finance.microseconds(a.open_at, NEW.at) END,
        last_until = CASE WHEN a.open_at IS NULL THEN a.last_until ELSE greatest(a.last_until, NEW.at) END,
        first_at = least(a.first_at, NEW.at), open_at = NEW.at;
    SELECT t.subscription_id, t.reason, coalesce(a.ended_at, t.at) AS at INTO before
    FROM subscriptions.transitions t LEFT JOIN finance.access_ends a ON a.transition_id = t.id
    WHERE t.customer_id = NEW.customer_id AND t.id < NEW.id AND (t.from_status = 'active' OR t.to_status = 'active')
    ORDER BY t.id DESC LIMIT 1;
    IF before.subscription_id = NEW.subscription_id THEN
        INSERT INTO finance.daily_deltas (at, first_at, left_at, reason, entries) VALUES (NEW.at, first_entry, before.at, finance.exit_reason(before.reason), 1);
    ELSIF before.reason = 'replaced' AND EXISTS (
        SELECT FROM subscriptions.transitions b WHERE b.subscription_id = NEW.subscription_id AND b.reason = 'renewed' AND b.from_status IS NULL)
    THEN
        INSERT INTO finance.daily_deltas (at, first_at, reason, exits) VALUES (before.at, first_entry, finance.exit_reason(before.reason), -1);
    ELSE
        INSERT INTO finance.daily_deltas (at, first_at, entries, firsts) VALUES (NEW.at, first_entry, 1, (before.subscription_id IS NULL)::int);
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd

-- +goose StatementBegin
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
    RETURN folded + more;
END
$$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION finance.use_report_tz(zone text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    IF (SELECT report_tz FROM finance.settings) = zone THEN
        RETURN false;
    END IF;
    PERFORM now() AT TIME ZONE zone; -- an unknown zone is refused here
    PERFORM pg_advisory_xact_lock(hashtextextended('finance.fold', 0));
    UPDATE finance.settings SET report_tz = zone;
    DELETE FROM finance.daily_rollup;
    DELETE FROM finance.return_rollup;
    DELETE FROM finance.cohort_rollup;
    PERFORM finance.rebuild();
    RETURN true;
END
$$;
-- +goose StatementEnd

CREATE VIEW finance.cohort_months AS
SELECT f.cohort_month, f.month, sum(f.customers)::bigint AS customers, sum(f.change)::bigint AS change
FROM (
    SELECT r.cohort_month, r.month, r.customers, r.change FROM finance.cohort_rollup r
    UNION ALL
    SELECT finance.month_of(d.first_at, z.report_tz), finance.month_of(d.at, z.report_tz), d.firsts, d.entries - d.exits
    FROM finance.daily_deltas d CROSS JOIN finance.settings z WHERE d.first_at IS NOT NULL
    UNION ALL
    SELECT finance.month_of(b.at, z.report_tz), finance.month_of(x.ended_at, z.report_tz), 0, -1
    FROM finance.settings z CROSS JOIN (SELECT s.customer_id, greatest(s.expires_at, e.at) AS ended_at
    FROM subscriptions.subscriptions s
    JOIN LATERAL (SELECT t.at FROM subscriptions.transitions t WHERE t.subscription_id = s.id AND t.to_status = 'active' ORDER BY t.id DESC LIMIT 1) e ON true
    WHERE s.status = 'active' AND s.expires_at IS NOT NULL AND s.expires_at <= finance.now()) x
    JOIN LATERAL (SELECT t.at FROM subscriptions.transitions t WHERE t.customer_id = x.customer_id AND t.to_status = 'active' ORDER BY t.id LIMIT 1) b ON true
) f
GROUP BY f.cohort_month, f.month;

CREATE VIEW finance.cohort_scan AS
SELECT m.cohort_month, m.month, count(*) FILTER (WHERE m.is_first)::bigint AS customers, sum(m.change)::bigint AS change
FROM (
    SELECT finance.month_of(first_value(v.at) OVER w, z.report_tz) AS cohort_month, finance.month_of(v.at, z.report_tz) AS month,
        row_number() OVER w = 1 AS is_first, CASE v.kind WHEN 'entry' THEN 1 ELSE -1 END AS change
    FROM finance.movements v CROSS JOIN finance.settings z
    WHERE NOT v.is_renewal
    WINDOW w AS (PARTITION BY v.customer_id ORDER BY v.movement_id)
) m
GROUP BY m.cohort_month, m.month;

CREATE OR REPLACE VIEW finance.cohorts AS
WITH moved AS MATERIALIZED (
    SELECT c.cohort_month, (extract(year FROM age(c.month, c.cohort_month)) * 12 + extract(month FROM age(c.month, c.cohort_month)))::integer AS months_since, c.customers, c.change
    FROM finance.cohort_months c
), sized AS (
    SELECT m.cohort_month, sum(m.customers)::bigint AS customers FROM moved m GROUP BY m.cohort_month HAVING sum(m.customers) > 0
)
SELECT c.cohort_month, c.months_since, c.customers, c.retained,
    CASE WHEN c.customers = 0 THEN 0 ELSE round(100.0 * c.retained / c.customers, 2) END::numeric AS retained_pct
FROM (
    SELECT k.cohort_month, n.months_since, k.customers, sum(coalesce(x.change, 0)) OVER (PARTITION BY k.cohort_month ORDER BY n.months_since)::bigint AS retained
    FROM sized k
    CROSS JOIN (SELECT date_trunc('month', c.today::timestamp)::date AS month FROM finance.clock c OFFSET 0) p
    CROSS JOIN LATERAL generate_series(0, (extract(year FROM age(p.month, k.cohort_month)) * 12 + extract(month FROM age(p.month, k.cohort_month)))::integer) AS n (months_since)
    LEFT JOIN moved x ON x.cohort_month = k.cohort_month AND x.months_since = n.months_since
) c;

CREATE VIEW finance.tenure_scan AS
SELECT a.customer_id, min(a.from_at)::timestamptz AS first_access_at,
    CASE WHEN count(*) FILTER (WHERE a.until_at IS NULL) = 0 THEN max(a.until_at) END::timestamptz AS last_access_at,
    count(*) FILTER (WHERE a.until_at IS NULL) > 0 AS is_active,
    floor(sum(extract(epoch FROM greatest(coalesce(a.until_at, finance.now()) - a.from_at, interval '0'))) / 86400)::bigint AS access_days
FROM finance.access_periods a
GROUP BY a.customer_id;

CREATE OR REPLACE VIEW finance.tenure AS
SELECT a.customer_id::text AS customer_id, a.first_at AS first_access_at,
    CASE WHEN a.open_at IS NULL OR x.ended_at IS NOT NULL THEN greatest(a.last_until, x.ended_at) END AS last_access_at,
    a.open_at IS NOT NULL AND x.ended_at IS NULL AS is_active,
    (a.closed_us + CASE WHEN a.open_at IS NULL THEN 0 ELSE finance.microseconds(a.open_at, coalesce(x.ended_at, c.now)) END) / 86400000000 AS access_days
FROM finance.customer_access a
CROSS JOIN (SELECT k.now FROM finance.clock k OFFSET 0) c
LEFT JOIN (SELECT s.customer_id, greatest(s.expires_at, e.at) AS ended_at
    FROM subscriptions.subscriptions s
    JOIN LATERAL (SELECT t.at FROM subscriptions.transitions t WHERE t.subscription_id = s.id AND t.to_status = 'active' ORDER BY t.id DESC LIMIT 1) e ON true
    WHERE s.status = 'active' AND s.expires_at IS NOT NULL AND s.expires_at <= finance.now()) x ON x.customer_id = a.customer_id;

-- +goose StatementBegin
CREATE FUNCTION finance.figure_differences() RETURNS TABLE (rollup text, key text, figure text, kept bigint, counted bigint) LANGUAGE sql STABLE AS $$
SELECT 'daily'::text AS rollup, coalesce(k.day, c.day)::text AS key, v.figure, v.kept, v.counted
FROM finance.daily k FULL JOIN finance.daily_scan c ON c.day = k.day
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
FROM finance.returns k FULL JOIN finance.return_scan c ON c.day = k.day AND c.left_day = k.left_day
WHERE coalesce(k.returns, 0) <> coalesce(c.returns, 0)
UNION ALL
SELECT 'standing', concat_ws(' ', coalesce(k.gateway, c.gateway), coalesce(k.payment_method, c.payment_method), coalesce(k.plan_id, c.plan_id)), v.figure, v.kept, v.counted
FROM finance.standing k FULL JOIN finance.standing_scan c ON c.gateway = k.gateway AND c.payment_method = k.payment_method AND c.plan_id = k.plan_id
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
-- +goose StatementEnd
COMMENT ON FUNCTION finance.figure_differences() IS 'The part of finance.rollup_differences for figures by day and present figures.';
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
COMMENT ON FUNCTION finance.rollup_differences() IS 'Where what is kept differs from the scan, by rollup (daily, returns, standing, cohorts, tenure), row and column: what is kept and what the ledgers say. Empty at any moment; slow.';

-- +goose StatementBegin
CREATE FUNCTION finance.rebuild_figures() RETURNS void LANGUAGE plpgsql AS $$
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
        SELECT 1 AS sign, c.* FROM finance.daily_scan c
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
        SELECT c.day, c.left_day, c.returns FROM finance.return_scan c
        UNION ALL
        SELECT k.day, k.left_day, -k.returns FROM finance.returns k
    ) f
    GROUP BY f.day, f.left_day
    ON CONFLICT (day, left_day) DO UPDATE SET returns = r.returns + excluded.returns;
    INSERT INTO finance.standing_rollup AS r (gateway, payment_method, plan_id, active, mrr_cents, trials, trial_mrr_cents, overdue, at_risk_cents, customers)
    SELECT f.gateway, f.payment_method, f.plan_id, sum(f.sign * f.active), sum(f.sign * f.mrr_cents), sum(f.sign * f.trials), sum(f.sign * f.trial_mrr_cents), sum(f.sign * f.overdue), sum(f.sign * f.at_risk_cents), sum(f.sign * f.customers)
    FROM (
        SELECT 1 AS sign, c.* FROM finance.standing_scan c
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
-- +goose StatementEnd
COMMENT ON FUNCTION finance.rebuild_figures() IS 'The part of finance.rebuild for figures by day and present figures.';
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
COMMENT ON FUNCTION finance.rebuild() IS 'Makes what is kept equal the scan: after rows were loaded with the triggers off, or when a check found differences. Reads every ledger whole; figures stay readable meanwhile, moves of subscriptions wait at the end.';

SELECT finance.rebuild();
SELECT finance.grant_analysts();

COMMENT ON VIEW finance.cohort_months IS 'Customers by the month in which they first had access, and how their number with access changed in each month; exact at any moment. Source: rollup, what is not folded yet, and access that has ended by its date.';
COMMENT ON COLUMN finance.cohort_months.cohort_month IS 'First day of the month of the first access, in the report time zone.';
COMMENT ON COLUMN finance.cohort_months.month IS 'First day of a month since.';
COMMENT ON COLUMN finance.cohort_months.customers IS 'First accesses: in the row of the cohort''s own month.';
COMMENT ON COLUMN finance.cohort_months.change IS 'Entries less exits of the month, renewals left out.';
COMMENT ON VIEW finance.cohort_scan IS 'The same as finance.cohort_months, counted from finance.movements: slow, for checks.';
COMMENT ON COLUMN finance.cohort_scan.cohort_month IS 'First day of the month of the first access, in the report time zone.';
COMMENT ON COLUMN finance.cohort_scan.month IS 'First day of a month since.';
COMMENT ON COLUMN finance.cohort_scan.customers IS 'First accesses.';
COMMENT ON COLUMN finance.cohort_scan.change IS 'Entries less exits of the month, renewals left out.';
COMMENT ON VIEW finance.cohorts IS 'Retention: customers by the month in which they first had access, and how many of them have it at the end of each month since (of the present month: now). Exact at any moment. Source: finance.cohort_months.';
COMMENT ON VIEW finance.tenure IS 'How long each customer who ever had access has had it; exact at any moment. Source: what the moves of subscriptions left behind, a row a customer.';
COMMENT ON VIEW finance.tenure_scan IS 'The same as finance.tenure, counted from finance.access_periods: slow, for checks.';
COMMENT ON COLUMN finance.tenure_scan.customer_id IS 'The customer.';
COMMENT ON COLUMN finance.tenure_scan.first_access_at IS 'When access first began, UTC.';
COMMENT ON COLUMN finance.tenure_scan.last_access_at IS 'When it last stopped, UTC; null while it lasts.';
COMMENT ON COLUMN finance.tenure_scan.is_active IS 'Has access now.';
COMMENT ON COLUMN finance.tenure_scan.access_days IS 'Whole days of access, gaps left out.';

-- +goose Down
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION finance.rebuild() RETURNS void LANGUAGE plpgsql AS $$
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
        SELECT 1 AS sign, c.* FROM finance.daily_scan c
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
        SELECT c.day, c.left_day, c.returns FROM finance.return_scan c
        UNION ALL
        SELECT k.day, k.left_day, -k.returns FROM finance.returns k
    ) f
    GROUP BY f.day, f.left_day
    ON CONFLICT (day, left_day) DO UPDATE SET returns = r.returns + excluded.returns;
    INSERT INTO finance.standing_rollup AS r (gateway, payment_method, plan_id, active, mrr_cents, trials, trial_mrr_cents, overdue, at_risk_cents, customers)
    SELECT f.gateway, f.payment_method, f.plan_id, sum(f.sign * f.active), sum(f.sign * f.mrr_cents), sum(f.sign * f.trials), sum(f.sign * f.trial_mrr_cents), sum(f.sign * f.overdue), sum(f.sign * f.at_risk_cents), sum(f.sign * f.customers)
    FROM (
        SELECT 1 AS sign, c.* FROM finance.standing_scan c
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
-- +goose StatementEnd
DROP FUNCTION finance.rebuild_figures();
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION finance.rollup_differences() RETURNS TABLE (rollup text, key text, figure text, kept bigint, counted bigint) LANGUAGE sql STABLE AS $$
SELECT 'daily'::text AS rollup, coalesce(k.day, c.day)::text AS key, v.figure, v.kept, v.counted
FROM finance.daily k FULL JOIN finance.daily_scan c ON c.day = k.day
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
FROM finance.returns k FULL JOIN finance.return_scan c ON c.day = k.day AND c.left_day = k.left_day
WHERE coalesce(k.returns, 0) <> coalesce(c.returns, 0)
UNION ALL
SELECT 'standing', concat_ws(' ', coalesce(k.gateway, c.gateway), coalesce(k.payment_method, c.payment_method), coalesce(k.plan_id, c.plan_id)), v.figure, v.kept, v.counted
FROM finance.standing k FULL JOIN finance.standing_scan c ON c.gateway = k.gateway AND c.payment_method = k.payment_method AND c.plan_id = k.plan_id
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
-- +goose StatementEnd
DROP FUNCTION finance.figure_differences();
CREATE OR REPLACE VIEW finance.tenure AS
SELECT a.customer_id, min(a.from_at)::timestamptz AS first_access_at,
    CASE WHEN count(*) FILTER (WHERE a.until_at IS NULL) = 0 THEN max(a.until_at) END::timestamptz AS last_access_at,
    count(*) FILTER (WHERE a.until_at IS NULL) > 0 AS is_active,
    floor(sum(extract(epoch FROM greatest(coalesce(a.until_at, finance.now()) - a.from_at, interval '0'))) / 86400)::bigint AS access_days
FROM finance.access_periods a
GROUP BY a.customer_id;

DROP VIEW finance.tenure_scan;
CREATE OR REPLACE VIEW finance.cohorts AS
SELECT c.cohort_month, c.months_since, c.customers, c.retained,
    CASE WHEN c.customers = 0 THEN 0 ELSE round(100.0 * c.retained / c.customers, 2) END::numeric AS retained_pct
FROM (
    SELECT k.cohort_month, n.months_since, k.customers, sum(coalesce(x.change, 0)) OVER (PARTITION BY k.cohort_month ORDER BY n.months_since)::bigint AS retained
    FROM (
        SELECT f.month AS cohort_month, count(*) AS customers
        FROM (SELECT date_trunc('month', min(e.at) AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS month FROM finance.entries e GROUP BY e.customer_id) f
        GROUP BY f.month
    ) k
    CROSS JOIN finance.clock c
    CROSS JOIN LATERAL generate_series(0, (extract(year FROM c.today) * 12 + extract(month FROM c.today) - extract(year FROM k.cohort_month) * 12 - extract(month FROM k.cohort_month))::integer) AS n (months_since)
    LEFT JOIN (
        SELECT a.cohort_month, (extract(year FROM a.month) * 12 + extract(month FROM a.month) - extract(year FROM a.cohort_month) * 12 - extract(month FROM a.cohort_month))::integer AS months_since,
            sum(a.change)::bigint AS change
        FROM (
            SELECT min(m.month) OVER (PARTITION BY m.customer_id) AS cohort_month, m.month, m.change
            FROM (
                SELECT v.customer_id, date_trunc('month', v.at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS month,
                    CASE v.kind WHEN 'entry' THEN 1 ELSE -1 END AS change
                FROM finance.movements v WHERE NOT v.is_renewal
            ) m
        ) a
        GROUP BY 1, 2
    ) x ON x.cohort_month = k.cohort_month AND x.months_since = n.months_since
) c;

DROP VIEW finance.cohort_scan;
DROP VIEW finance.cohort_months;
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION finance.use_report_tz(zone text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    IF (SELECT report_tz FROM finance.settings) = zone THEN
        RETURN false;
    END IF;
    PERFORM now() AT TIME ZONE zone; -- an unknown zone is refused here
    PERFORM pg_advisory_xact_lock(hashtextextended('finance.fold', 0));
    UPDATE finance.settings SET report_tz = zone;
    DELETE FROM finance.daily_rollup;
    DELETE FROM finance.return_rollup;
    PERFORM finance.rebuild();
    RETURN true;
END
$$;
-- +goose StatementEnd

-- +goose StatementBegin
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
    RETURN folded + more;
END
$$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION finance.note_transition() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    ended timestamptz;
    before record;
BEGIN
    IF NEW.from_status = 'active' THEN
        SELECT greatest(s.expires_at, e.at) INTO ended
        FROM subscriptions.subscriptions s
        JOIN LATERAL (SELECT t.at FROM subscriptions.transitions t
            WHERE t.subscription_id = s.id AND t.to_status = 'active' AND t.id < NEW.id ORDER BY t.id DESC LIMIT 1) e ON true
        WHERE s.id = NEW.subscription_id AND s.expires_at < NEW.at;
        IF ended < NEW.at THEN
            INSERT INTO finance.access_ends (transition_id, ended_at) VALUES (NEW.id, ended);
        END IF;
        INSERT INTO finance.daily_deltas (at, reason, exits) VALUES (least(ended, NEW.at), finance.exit_reason(NEW.reason), 1);
        RETURN NULL;
    END IF;
    SELECT t.subscription_id, t.reason, coalesce(a.ended_at, t.at) AS at INTO before
    FROM subscriptions.transitions t LEFT JOIN finance.access_ends a ON a.transition_id = t.id
    WHERE t.customer_id = NEW.customer_id AND t.id < NEW.id AND (t.from_status = 'active' OR t.to_status = 'active')
    ORDER BY t.id DESC LIMIT 1;
    IF before.subscription_id = NEW.subscription_id THEN
        INSERT INTO finance.daily_deltas (at, left_at, reason, entries) VALUES (NEW.at, before.at, finance.exit_reason(before.reason), 1);
    ELSIF before.reason = 'replaced' AND EXISTS (
        SELECT FROM subscriptions.transitions b WHERE b.subscription_id = NEW.subscription_id AND b.reason = 'renewed' AND b.from_status IS NULL)
    THEN
        INSERT INTO finance.daily_deltas (at, reason, exits) VALUES (before.at, finance.exit_reason(before.reason), -1);
    ELSE
        INSERT INTO finance.daily_deltas (at, entries) VALUES (NEW.at, 1);
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd

DROP FUNCTION finance.month_of(timestamptz, text);
DROP FUNCTION finance.microseconds(timestamptz, timestamptz);
DROP TABLE finance.customer_access;
DROP TABLE finance.cohort_rollup;
ALTER TABLE finance.daily_deltas DROP COLUMN first_at, DROP COLUMN firsts;
