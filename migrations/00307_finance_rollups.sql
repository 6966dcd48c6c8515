-- +goose Up
CREATE VIEW finance.daily_unfolded AS
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
FROM finance.daily_deltas d CROSS JOIN finance.settings z
GROUP BY 1;

CREATE VIEW finance.daily AS
SELECT f.day,
    sum(f.gross_gwa_cents)::bigint AS gross_gwa_cents,
    sum(f.gross_gwb_cents)::bigint AS gross_gwb_cents,
    sum(f.payments)::bigint AS payments,
    sum(f.failed_attempts)::bigint AS failed_attempts,
    sum(f.refunds_cents)::bigint AS refunds_cents,
    sum(f.chargebacks_cents)::bigint AS chargebacks_cents,
    sum(f.entries)::bigint AS entries,
    sum(f.exits_payment_failure)::bigint AS exits_payment_failure,
    sum(f.exits_customer_cancelled)::bigint AS exits_customer_cancelled,
    sum(f.exits_admin_cancelled)::bigint AS exits_admin_cancelled,
    sum(f.exits_chargeback)::bigint AS exits_chargeback,
    sum(f.exits_expired)::bigint AS exits_expired,
    sum(f.returned_in_day)::bigint AS returned_in_day,
    sum(f.returned_in_month_payment_failure)::bigint AS returned_in_month_payment_failure,
    sum(f.returned_in_month_customer_cancelled)::bigint AS returned_in_month_customer_cancelled,
    sum(f.returned_in_month_admin_cancelled)::bigint AS returned_in_month_admin_cancelled,
    sum(f.returned_in_month_chargeback)::bigint AS returned_in_month_chargeback,
    sum(f.returned_in_month_expired)::bigint AS returned_in_month_expired
FROM (
    SELECT day,
        gross_gwa_cents, gross_gwb_cents, payments, failed_attempts, refunds_cents, chargebacks_cents, entries, exits_payment_failure,
        exits_customer_cancelled, exits_admin_cancelled, exits_chargeback, exits_expired, returned_in_day, returned_in_month_payment_failure,
        returned_in_month_customer_cancelled, returned_in_month_admin_cancelled, returned_in_month_chargeback, returned_in_month_expired
    FROM finance.daily_rollup
    UNION ALL
    SELECT day,
        gross_gwa_cents, gross_gwb_cents, payments, failed_attempts, refunds_cents, chargebacks_cents, entries, exits_payment_failure,
        exits_customer_cancelled, exits_admin_cancelled, exits_chargeback, exits_expired, returned_in_day, returned_in_month_payment_failure,
        returned_in_month_customer_cancelled, returned_in_month_admin_cancelled, returned_in_month_chargeback, returned_in_month_expired
    FROM finance.daily_unfolded
    UNION ALL
    SELECT (greatest(s.expires_at, e.at) AT TIME ZONE z.report_tz)::date,
        0, 0, 0, 0, 0, 0, 0, 0, CASE WHEN s.cancel_at_period_end THEN 1 ELSE 0 END, 0, 0, CASE WHEN s.cancel_at_period_end THEN 0 ELSE 1 END, 0, 0, 0, 0, 0, 0
    FROM finance.settings z CROSS JOIN subscriptions.subscriptions s
    JOIN LATERAL (SELECT t.at FROM subscriptions.transitions t WHERE t.subscription_id = s.id AND t.to_status = 'active' ORDER BY t.id DESC LIMIT 1) e ON true
    WHERE s.status = 'active' AND s.expires_at IS NOT NULL AND s.expires_at <= finance.now()
) f
GROUP BY f.day;

CREATE VIEW finance.daily_scan AS
SELECT f.day,
    sum(f.gross_gwa_cents)::bigint AS gross_gwa_cents,
    sum(f.gross_gwb_cents)::bigint AS gross_gwb_cents,
    sum(f.payments)::bigint AS payments,
    sum(f.failed_attempts)::bigint AS failed_attempts,
    sum(f.refunds_cents)::bigint AS refunds_cents,
    sum(f.chargebacks_cents)::bigint AS chargebacks_cents,
    sum(f.entries)::bigint AS entries,
    sum(f.exits_payment_failure)::bigint AS exits_payment_failure,
    sum(f.exits_customer_cancelled)::bigint AS exits_customer_cancelled,
    sum(f.exits_admin_cancelled)::bigint AS exits_admin_cancelled,
    sum(f.exits_chargeback)::bigint AS exits_chargeback,
    sum(f.exits_expired)::bigint AS exits_expired,
    sum(f.returned_in_day)::bigint AS returned_in_day,
    sum(f.returned_in_month_payment_failure)::bigint AS returned_in_month_payment_failure,
    sum(f.returned_in_month_customer_cancelled)::bigint AS returned_in_month_customer_cancelled,
    sum(f.returned_in_month_admin_cancelled)::bigint AS returned_in_month_admin_cancelled,
    sum(f.returned_in_month_chargeback)::bigint AS returned_in_month_chargeback,
    sum(f.returned_in_month_expired)::bigint AS returned_in_month_expired
FROM (
    SELECT p.settled_on AS day, CASE p.gateway WHEN 'gwa' THEN p.amount_cents ELSE 0 END AS gross_gwa_cents, CASE p.gateway WHEN 'gwb' THEN p.amount_cents ELSE 0 END AS gross_gwb_cents,
        1 AS payments, 0 AS failed_attempts, 0 AS refunds_cents, 0 AS chargebacks_cents, 0 AS entries,
        0 AS exits_payment_failure, 0 AS exits_customer_cancelled, 0 AS exits_admin_cancelled, 0 AS exits_chargeback, 0 AS exits_expired, 0 AS returned_in_day,
        0 AS returned_in_month_payment_failure, 0 AS returned_in_month_customer_cancelled, 0 AS returned_in_month_admin_cancelled,
        0 AS returned_in_month_chargeback, 0 AS returned_in_month_expired
    FROM finance.payments p WHERE p.purpose = 'subscription'
    UNION ALL
    SELECT a.failed_on, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
    FROM finance.failed_attempts a WHERE a.purpose = 'subscription'
    UNION ALL
    SELECT r.refunded_on, 0, 0, 0, 0, r.amount_cents, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
    FROM finance.refunds r WHERE r.purpose = 'subscription' AND r.is_done
    UNION ALL
    SELECT c.day, 0, 0, 0, 0, 0, c.amount_cents, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
    FROM finance.chargebacks c WHERE c.purpose = 'subscription'
    UNION ALL
    SELECT m.day, 0, 0, 0, 0, 0, 0, (m.kind = 'entry')::int,
        (m.kind = 'exit' AND m.reason = 'payment_failure')::int, (m.kind = 'exit' AND m.reason = 'customer_cancelled')::int,
        (m.kind = 'exit' AND m.reason = 'admin_cancelled')::int, (m.kind = 'exit' AND m.reason = 'chargeback')::int,
        (m.kind = 'exit' AND m.reason = 'expired')::int,
        coalesce(m.day = (m.left_at AT TIME ZONE z.report_tz)::date, false)::int,
        coalesce(m.left_reason = 'payment_failure' AND date_trunc('month', m.left_at AT TIME ZONE z.report_tz) = date_trunc('month', m.at AT TIME ZONE z.report_tz), false)::int,
        coalesce(m.left_reason = 'customer_cancelled' AND date_trunc('month', m.left_at AT TIME ZONE z.report_tz) = date_trunc('month', m.at AT TIME ZONE z.report_tz), false)::int,
        coalesce(m.left_reason = 'admin_cancelled' AND date_trunc('month', m.left_at AT TIME ZONE z.report_tz) = date_trunc('month', m.at AT TIME ZONE z.report_tz), false)::int,
        coalesce(m.left_reason = 'chargeback' AND date_trunc('month', m.left_at AT TIME ZONE z.report_tz) = date_trunc('month', m.at AT TIME ZONE z.report_tz), false)::int,
        coalesce(m.left_reason = 'expired' AND date_trunc('month', m.left_at AT TIME ZONE z.report_tz) = date_trunc('month', m.at AT TIME ZONE z.report_tz), false)::int
    FROM finance.movements m CROSS JOIN finance.settings z WHERE NOT m.is_renewal
) f
GROUP BY f.day;

CREATE VIEW finance.returns AS
SELECT f.day, f.left_day, sum(f.returns)::bigint AS returns
FROM (
    SELECT r.day, r.left_day, r.returns FROM finance.return_rollup r
    UNION ALL
    SELECT (d.at AT TIME ZONE z.report_tz)::date, (d.left_at AT TIME ZONE z.report_tz)::date, d.entries
    FROM finance.daily_deltas d CROSS JOIN finance.settings z WHERE d.left_at IS NOT NULL
) f
GROUP BY f.day, f.left_day;

CREATE VIEW finance.return_scan AS
SELECT e.day, (e.left_at AT TIME ZONE z.report_tz)::date AS left_day, count(*) AS returns
FROM finance.entries e CROSS JOIN finance.settings z
WHERE e.left_at IS NOT NULL
GROUP BY 1, 2;

CREATE VIEW finance.standing AS
SELECT f.gateway, f.payment_method, f.plan_id,
    sum(f.active)::bigint AS active,
    sum(f.mrr_cents)::bigint AS mrr_cents,
    sum(f.trials)::bigint AS trials,
    sum(f.trial_mrr_cents)::bigint AS trial_mrr_cents,
    sum(f.overdue)::bigint AS overdue,
    sum(f.at_risk_cents)::bigint AS at_risk_cents,
    sum(f.customers)::bigint AS customers
FROM (
    SELECT gateway, payment_method, plan_id, active, mrr_cents, trials, trial_mrr_cents, overdue, at_risk_cents, customers FROM finance.standing_rollup
    UNION ALL
    SELECT gateway, payment_method, plan_id, active, mrr_cents, trials, trial_mrr_cents, overdue, at_risk_cents, customers FROM finance.standing_deltas
    UNION ALL
    SELECT s.gateway, s.payment_method, s.plan_id, -1, -s.price_cents, -t.trial, -t.trial * s.price_cents, 0, 0, 0
    FROM subscriptions.subscriptions s
    CROSS JOIN LATERAL (SELECT (s.trial_days > 0 AND s.last_payment_at IS NULL)::int AS trial) t
    WHERE s.status = 'active' AND s.expires_at IS NOT NULL AND s.expires_at <= finance.now()
) f
GROUP BY f.gateway, f.payment_method, f.plan_id;

CREATE VIEW finance.standing_scan AS
SELECT s.gateway, s.payment_method, s.plan_id,
    count(*) FILTER (WHERE s.is_active) AS active, coalesce(sum(s.price_cents) FILTER (WHERE s.is_active), 0)::bigint AS mrr_cents,
    count(*) FILTER (WHERE s.is_trial) AS trials, coalesce(sum(s.price_cents) FILTER (WHERE s.is_trial), 0)::bigint AS trial_mrr_cents,
    count(*) FILTER (WHERE s.is_overdue) AS overdue, coalesce(sum(s.price_cents) FILTER (WHERE s.is_overdue), 0)::bigint AS at_risk_cents, 0::bigint AS customers
FROM finance.subscriptions s
GROUP BY s.gateway, s.payment_method, s.plan_id
UNION ALL
SELECT '', '', '', 0, 0, 0, 0, 0, 0, count(*) FROM finance.customers c WHERE NOT c.is_deleted;

-- +goose StatementBegin
CREATE FUNCTION finance.rollup_differences() RETURNS TABLE (rollup text, key text, figure text, kept bigint, counted bigint) LANGUAGE sql STABLE AS $$
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
COMMENT ON FUNCTION finance.rollup_differences() IS 'Where the rollups differ from the scan, by rollup (daily, returns, standing), row and column: what is kept and what the ledgers say. Empty at any moment; slow.';

-- +goose StatementBegin
CREATE FUNCTION finance.fold(at_most integer) RETURNS bigint LANGUAGE plpgsql AS $$
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
COMMENT ON FUNCTION finance.fold(integer) IS 'Moves the oldest deltas, at most so many of each kind, into the rollups, and returns how many there were; 0 also while somebody else folds. No figure changes by it.';

-- +goose StatementBegin
CREATE FUNCTION finance.rebuild() RETURNS void LANGUAGE plpgsql AS $$
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
COMMENT ON FUNCTION finance.rebuild() IS 'Makes the rollups equal the scan: after rows were loaded with the triggers off, or when a check found differences. Reads every ledger whole; figures stay readable meanwhile.';

-- +goose StatementBegin
CREATE FUNCTION finance.use_report_tz(zone text) RETURNS boolean LANGUAGE plpgsql AS $$
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
COMMENT ON FUNCTION finance.use_report_tz(text) IS 'Changes the time zone of days and months and counts the rollups anew under it; true when it was another.';

ANALYZE finance.settings; -- one row, which the planner should know
INSERT INTO finance.access_ends (transition_id, ended_at)
SELECT t.id, greatest(s.expires_at, e.at)
FROM subscriptions.transitions t
JOIN subscriptions.subscriptions s ON s.id = t.subscription_id
JOIN LATERAL (SELECT b.at FROM subscriptions.transitions b WHERE b.subscription_id = t.subscription_id AND b.to_status = 'active' AND b.id < t.id ORDER BY b.id DESC LIMIT 1) e ON true
WHERE t.from_status = 'active' AND greatest(s.expires_at, e.at) < t.at
  AND NOT EXISTS (SELECT FROM subscriptions.transitions l WHERE l.subscription_id = t.subscription_id AND l.id > t.id AND l.to_status = 'active')
ON CONFLICT DO NOTHING;
SELECT finance.rebuild();
SELECT finance.grant_analysts();

COMMENT ON VIEW finance.daily IS 'Figures by day, exact at any moment: the rollup, what is not folded yet, and access that has ended by its date while its row is not closed. Only days on which something happened.';
COMMENT ON COLUMN finance.daily.day IS 'Day in the report time zone.';
COMMENT ON COLUMN finance.daily.gross_gwa_cents IS 'Subscription payments settled on the day at gateway A, cents.';
COMMENT ON COLUMN finance.daily.gross_gwb_cents IS 'The same at gateway B.';
COMMENT ON COLUMN finance.daily.payments IS 'Their number: settled attempts.';
COMMENT ON COLUMN finance.daily.failed_attempts IS 'Failed attempts to take a subscription payment.';
COMMENT ON COLUMN finance.daily.refunds_cents IS 'Subscription payments given back, cents, by refunded_on.';
COMMENT ON COLUMN finance.daily.chargebacks_cents IS 'Taken by disputes less what won ones gave back, cents.';
COMMENT ON COLUMN finance.daily.entries IS 'Customers whose access began, renewals left out.';
COMMENT ON COLUMN finance.daily.exits_payment_failure IS 'Customers whose access stopped by payment_failure, renewals left out.';
COMMENT ON COLUMN finance.daily.exits_customer_cancelled IS 'Customers whose access stopped by customer_cancelled, renewals left out.';
COMMENT ON COLUMN finance.daily.exits_admin_cancelled IS 'Customers whose access stopped by admin_cancelled, renewals left out.';
COMMENT ON COLUMN finance.daily.exits_chargeback IS 'Customers whose access stopped by chargeback, renewals left out.';
COMMENT ON COLUMN finance.daily.exits_expired IS 'Customers whose access stopped by expired, renewals left out.';
COMMENT ON COLUMN finance.daily.returned_in_day IS 'Of the entries, those of subscriptions that had left on the same day.';
COMMENT ON COLUMN finance.daily.returned_in_month_payment_failure IS 'Of the entries, those of subscriptions that had left by payment_failure in the same month.';
COMMENT ON COLUMN finance.daily.returned_in_month_customer_cancelled IS 'Of the entries, those of subscriptions that had left by customer_cancelled in the same month.';
COMMENT ON COLUMN finance.daily.returned_in_month_admin_cancelled IS 'Of the entries, those of subscriptions that had left by admin_cancelled in the same month.';
COMMENT ON COLUMN finance.daily.returned_in_month_chargeback IS 'Of the entries, those of subscriptions that had left by chargeback in the same month.';
COMMENT ON COLUMN finance.daily.returned_in_month_expired IS 'Of the entries, those of subscriptions that had left by expired in the same month.';

COMMENT ON VIEW finance.daily_unfolded IS 'The part of finance.daily that is not folded yet.';
COMMENT ON COLUMN finance.daily_unfolded.day IS 'Day in the report time zone.';
COMMENT ON COLUMN finance.daily_unfolded.gross_gwa_cents IS 'Subscription payments settled on the day at gateway A, cents.';
COMMENT ON COLUMN finance.daily_unfolded.gross_gwb_cents IS 'The same at gateway B.';
COMMENT ON COLUMN finance.daily_unfolded.payments IS 'Their number: settled attempts.';
COMMENT ON COLUMN finance.daily_unfolded.failed_attempts IS 'Failed attempts to take a subscription payment.';
COMMENT ON COLUMN finance.daily_unfolded.refunds_cents IS 'Subscription payments given back, cents, by refunded_on.';
COMMENT ON COLUMN finance.daily_unfolded.chargebacks_cents IS 'Taken by disputes less what won ones gave back, cents.';
COMMENT ON COLUMN finance.daily_unfolded.entries IS 'Customers whose access began, renewals left out.';
COMMENT ON COLUMN finance.daily_unfolded.exits_payment_failure IS 'Customers whose access stopped by payment_failure, renewals left out.';
COMMENT ON COLUMN finance.daily_unfolded.exits_customer_cancelled IS 'Customers whose access stopped by customer_cancelled, renewals left out.';
COMMENT ON COLUMN finance.daily_unfolded.exits_admin_cancelled IS 'Customers whose access stopped by admin_cancelled, renewals left out.';
COMMENT ON COLUMN finance.daily_unfolded.exits_chargeback IS 'Customers whose access stopped by chargeback, renewals left out.';
COMMENT ON COLUMN finance.daily_unfolded.exits_expired IS 'Customers whose access stopped by expired, renewals left out.';
COMMENT ON COLUMN finance.daily_unfolded.returned_in_day IS 'Of the entries, those of subscriptions that had left on the same day.';
COMMENT ON COLUMN finance.daily_unfolded.returned_in_month_payment_failure IS 'Of the entries, those of subscriptions that had left by payment_failure in the same month.';
COMMENT ON COLUMN finance.daily_unfolded.returned_in_month_customer_cancelled IS 'Of the entries, those of subscriptions that had left by customer_cancelled in the same month.';
COMMENT ON COLUMN finance.daily_unfolded.returned_in_month_admin_cancelled IS 'Of the entries, those of subscriptions that had left by admin_cancelled in the same month.';
COMMENT ON COLUMN finance.daily_unfolded.returned_in_month_chargeback IS 'Of the entries, those of subscriptions that had left by chargeback in the same month.';
COMMENT ON COLUMN finance.daily_unfolded.returned_in_month_expired IS 'Of the entries, those of subscriptions that had left by expired in the same month.';

COMMENT ON VIEW finance.daily_scan IS 'The same as finance.daily, counted from the ledgers: slow, for checks.';
COMMENT ON COLUMN finance.daily_scan.day IS 'Day in the report time zone.';
COMMENT ON COLUMN finance.daily_scan.gross_gwa_cents IS 'Subscription payments settled on the day at gateway A, cents.';
COMMENT ON COLUMN finance.daily_scan.gross_gwb_cents IS 'The same at gateway B.';
COMMENT ON COLUMN finance.daily_scan.payments IS 'Their number: settled attempts.';
COMMENT ON COLUMN finance.daily_scan.failed_attempts IS 'Failed attempts to take a subscription payment.';
COMMENT ON COLUMN finance.daily_scan.refunds_cents IS 'Subscription payments given back, cents, by refunded_on.';
COMMENT ON COLUMN finance.daily_scan.chargebacks_cents IS 'Taken by disputes less what won ones gave back, cents.';
COMMENT ON COLUMN finance.daily_scan.entries IS 'Customers whose access began, renewals left out.';
COMMENT ON COLUMN finance.daily_scan.exits_payment_failure IS 'Customers whose access stopped by payment_failure, renewals left out.';
COMMENT ON COLUMN finance.daily_scan.exits_customer_cancelled IS 'Customers whose access stopped by customer_cancelled, renewals left out.';
COMMENT ON COLUMN finance.daily_scan.exits_admin_cancelled IS 'Customers whose access stopped by admin_cancelled, renewals left out.';
COMMENT ON COLUMN finance.daily_scan.exits_chargeback IS 'Customers whose access stopped by chargeback, renewals left out.';
COMMENT ON COLUMN finance.daily_scan.exits_expired IS 'Customers whose access stopped by expired, renewals left out.';
COMMENT ON COLUMN finance.daily_scan.returned_in_day IS 'Of the entries, those of subscriptions that had left on the same day.';
COMMENT ON COLUMN finance.daily_scan.returned_in_month_payment_failure IS 'Of the entries, those of subscriptions that had left by payment_failure in the same month.';
COMMENT ON COLUMN finance.daily_scan.returned_in_month_customer_cancelled IS 'Of the entries, those of subscriptions that had left by customer_cancelled in the same month.';
COMMENT ON COLUMN finance.daily_scan.returned_in_month_admin_cancelled IS 'Of the entries, those of subscriptions that had left by admin_cancelled in the same month.';
COMMENT ON COLUMN finance.daily_scan.returned_in_month_chargeback IS 'Of the entries, those of subscriptions that had left by chargeback in the same month.';
COMMENT ON COLUMN finance.daily_scan.returned_in_month_expired IS 'Of the entries, those of subscriptions that had left by expired in the same month.';

COMMENT ON VIEW finance.returns IS 'Subscriptions whose access came back, by day and by the day on which it had stopped: what is left out of a period that holds both. Exact at any moment.';
COMMENT ON COLUMN finance.returns.day IS 'Day of the return, in the report time zone.';
COMMENT ON COLUMN finance.returns.left_day IS 'Day on which access had stopped.';
COMMENT ON COLUMN finance.returns.returns IS 'Number.';

COMMENT ON VIEW finance.return_scan IS 'The same as finance.returns, counted from finance.entries: slow, for checks.';
COMMENT ON COLUMN finance.return_scan.day IS 'Day of the return, in the report time zone.';
COMMENT ON COLUMN finance.return_scan.left_day IS 'Day on which access had stopped.';
COMMENT ON COLUMN finance.return_scan.returns IS 'Number.';

COMMENT ON VIEW finance.standing IS 'Present figures by gateway, payment method and plan, exact at any moment: the rollup, what is not folded yet, less what has expired by its date.';
COMMENT ON COLUMN finance.standing.gateway IS 'gwa or gwb; empty in the row that counts customers.';
COMMENT ON COLUMN finance.standing.payment_method IS 'credit_card, pix or boleto; empty likewise.';
COMMENT ON COLUMN finance.standing.plan_id IS 'The plan; empty likewise.';
COMMENT ON COLUMN finance.standing.active IS 'Active subscriptions as of finance.now().';
COMMENT ON COLUMN finance.standing.mrr_cents IS 'Sum of their monthly prices, cents.';
COMMENT ON COLUMN finance.standing.trials IS 'Of them, trials.';
COMMENT ON COLUMN finance.standing.trial_mrr_cents IS 'Monthly prices of the trials, cents; part of mrr_cents.';
COMMENT ON COLUMN finance.standing.overdue IS 'Overdue subscriptions.';
COMMENT ON COLUMN finance.standing.at_risk_cents IS 'Sum of their monthly prices, cents.';
COMMENT ON COLUMN finance.standing.customers IS 'Customers that are not deleted; in the row of empty texts alone.';

COMMENT ON VIEW finance.standing_scan IS 'The same as finance.standing, counted from finance.subscriptions and finance.customers: slow, for checks.';
COMMENT ON COLUMN finance.standing_scan.gateway IS 'gwa or gwb; empty in the row that counts customers.';
COMMENT ON COLUMN finance.standing_scan.payment_method IS 'credit_card, pix or boleto; empty likewise.';
COMMENT ON COLUMN finance.standing_scan.plan_id IS 'The plan; empty likewise.';
COMMENT ON COLUMN finance.standing_scan.active IS 'Active subscriptions as of finance.now().';
COMMENT ON COLUMN finance.standing_scan.mrr_cents IS 'Sum of their monthly prices, cents.';
COMMENT ON COLUMN finance.standing_scan.trials IS 'Of them, trials.';
COMMENT ON COLUMN finance.standing_scan.trial_mrr_cents IS 'Monthly prices of the trials, cents; part of mrr_cents.';
COMMENT ON COLUMN finance.standing_scan.overdue IS 'Overdue subscriptions.';
COMMENT ON COLUMN finance.standing_scan.at_risk_cents IS 'Sum of their monthly prices, cents.';
COMMENT ON COLUMN finance.standing_scan.customers IS 'Customers that are not deleted; in the row of empty texts alone.';

-- +goose Down
DROP FUNCTION finance.use_report_tz(text);
DROP FUNCTION finance.rebuild();
DROP FUNCTION finance.fold(integer);
DROP FUNCTION finance.rollup_differences();
DROP VIEW finance.standing_scan;
DROP VIEW finance.standing;
DROP VIEW finance.return_scan;
DROP VIEW finance.returns;
DROP VIEW finance.daily_scan;
DROP VIEW finance.daily;
DROP VIEW finance.daily_unfolded;
