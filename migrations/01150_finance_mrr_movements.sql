-- +goose Up
CREATE TABLE finance.price_changes (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    subscription_id platform.object_id NOT NULL,
    at              timestamptz NOT NULL,
    transition_id   bigint NOT NULL,
    from_cents      bigint NOT NULL CONSTRAINT price_changes_from_not_negative CHECK (from_cents >= 0),
    to_cents        bigint NOT NULL CONSTRAINT price_changes_to_not_negative CHECK (to_cents >= 0)
);
COMMENT ON TABLE finance.price_changes IS 'Every other price of a subscription, append-only, written by the trigger of its row in the same transaction. Before it began there is what plan moves say; a change that none says happened before the first activation.';
COMMENT ON COLUMN finance.price_changes.at IS 'When it counts: register_update_date of the row, or the end of its access by its date when that was earlier.';
COMMENT ON COLUMN finance.price_changes.transition_id IS 'The last transition of the subscription before it; 0 for none. Orders changes of prices and states.';
CREATE INDEX price_changes_by_subscription ON finance.price_changes (subscription_id, id);

CREATE TABLE finance.mrr_deltas (
    id                 bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at                 timestamptz NOT NULL,
    left_at            timestamptz,
    left_cents         bigint NOT NULL DEFAULT 0,
    new_cents          bigint NOT NULL DEFAULT 0,
    expansion_cents    bigint NOT NULL DEFAULT 0,
    reactivation_cents bigint NOT NULL DEFAULT 0,
    contraction_cents  bigint NOT NULL DEFAULT 0,
    churn_cents        bigint NOT NULL DEFAULT 0
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 10000);
COMMENT ON TABLE finance.mrr_deltas IS 'What transactions changed in the movements of MRR: inserted by triggers in the same transaction, never updated, taken out by finance.fold. Instants, not months, so that a change of the report time zone leaves them right.';
COMMENT ON COLUMN finance.mrr_deltas.at IS 'When it counts.';
COMMENT ON COLUMN finance.mrr_deltas.left_at IS 'Of a subscription that comes back: when its access had stopped. Within one month both are none, but for the other price.';
COMMENT ON COLUMN finance.mrr_deltas.left_cents IS 'Its price then.';
COMMENT ON COLUMN finance.mrr_deltas.churn_cents IS 'Negative: an exit that a renewal or a withdrawn chargeback undid.';

CREATE TABLE finance.mrr_rollup (
    month              date PRIMARY KEY,
    new_cents          bigint NOT NULL DEFAULT 0,
    expansion_cents    bigint NOT NULL DEFAULT 0,
    reactivation_cents bigint NOT NULL DEFAULT 0,
    contraction_cents  bigint NOT NULL DEFAULT 0,
    churn_cents        bigint NOT NULL DEFAULT 0
);
COMMENT ON TABLE finance.mrr_rollup IS 'Folded deltas of MRR by month. Read finance.mrr_movements.';

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION finance.price_before(subscription text, transition bigint) RETURNS bigint LANGUAGE sql STABLE AS $$
SELECT coalesce(
    (SELECT c.to_cents FROM finance.price_changes c WHERE c.subscription_id = subscription AND c.transition_id < transition ORDER BY c.id DESC LIMIT 1),
    (SELECT c.from_cents FROM finance.price_changes c WHERE c.subscription_id = subscription ORDER BY c.id LIMIT 1),
    (SELECT s.price_cents FROM subscriptions.subscriptions s WHERE s.id = subscription))
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION finance.price_before(text, bigint) IS 'The price a month of a subscription, cents, as it stood when a transition was written.';

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION finance.note_price() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    changed timestamptz := least(NEW.register_update_date, CASE WHEN OLD.status = 'active' THEN OLD.expires_at END);
BEGIN
    INSERT INTO finance.price_changes (subscription_id, at, transition_id, from_cents, to_cents)
    SELECT NEW.id, changed, coalesce(max(t.id), 0), OLD.price_cents, NEW.price_cents
    FROM subscriptions.transitions t WHERE t.subscription_id = NEW.id;
    IF OLD.status = 'active' THEN
        INSERT INTO finance.mrr_deltas (at, expansion_cents, contraction_cents)
        VALUES (changed, greatest(NEW.price_cents - OLD.price_cents, 0), greatest(OLD.price_cents - NEW.price_cents, 0));
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION finance.note_price() IS 'Keeps another price of a subscription, and what it means for MRR while it is active: after its access has ended by its date, at that date.';

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION finance.note_mrr() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    price bigint := finance.price_before(NEW.subscription_id, NEW.id);
    before record;
BEGIN
    IF NEW.from_status = 'active' THEN
        INSERT INTO finance.mrr_deltas (at, churn_cents)
        VALUES (coalesce((SELECT a.ended_at FROM finance.access_ends a WHERE a.transition_id = NEW.id), NEW.at), price);
        RETURN NULL;
    END IF;
    SELECT t.id, t.subscription_id, t.reason, coalesce(a.ended_at, t.at) AS at, finance.price_before(t.subscription_id, t.id) AS price INTO before
    FROM subscriptions.transitions t LEFT JOIN finance.access_ends a ON a.transition_id = t.id
    WHERE t.customer_id = NEW.customer_id AND t.id < NEW.id AND (t.from_status = 'active' OR t.to_status = 'active')
    ORDER BY t.id DESC LIMIT 1;
    IF NEW.reason = 'chargeback_withdrawn' THEN
        INSERT INTO finance.mrr_deltas (at, churn_cents) VALUES (before.at, -before.price);
        INSERT INTO finance.mrr_deltas (at, expansion_cents, contraction_cents)
        SELECT c.at, greatest(c.to_cents - c.from_cents, 0), greatest(c.from_cents - c.to_cents, 0)
        FROM finance.price_changes c WHERE c.subscription_id = NEW.subscription_id AND c.transition_id >= before.id;
    ELSIF before.id IS NULL THEN
        INSERT INTO finance.mrr_deltas (at, new_cents) VALUES (NEW.at, price);
    ELSIF before.subscription_id = NEW.subscription_id THEN
        INSERT INTO finance.mrr_deltas (at, left_at, left_cents, reactivation_cents) VALUES (NEW.at, before.at, before.price, price);
    ELSIF before.reason = 'replaced' AND EXISTS (
        SELECT FROM subscriptions.transitions b WHERE b.subscription_id = NEW.subscription_id AND b.reason = 'renewed' AND b.from_status IS NULL)
    THEN
        INSERT INTO finance.mrr_deltas (at, churn_cents) VALUES (before.at, -before.price);
        IF price <> before.price THEN
            INSERT INTO finance.mrr_deltas (at, expansion_cents, contraction_cents)
            VALUES (NEW.at, greatest(price - before.price, 0), greatest(before.price - price, 0));
        END IF;
    ELSE
        INSERT INTO finance.mrr_deltas (at, reactivation_cents) VALUES (NEW.at, price);
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION finance.note_mrr() IS 'Writes what a move into or out of active means for the movements of MRR; finance_internal.mrr_scan says the same of all rows. A renewal that is paid undoes the churn of what it replaced, and a chargeback that is withdrawn the churn that it was. Runs after finance.note_transition, which says when access ended.';

CREATE OR REPLACE VIEW finance_internal.mrr_months AS
SELECT f.month, sum(f.new_cents)::bigint AS new_cents, sum(f.expansion_cents)::bigint AS expansion_cents, sum(f.reactivation_cents)::bigint AS reactivation_cents,
    sum(f.contraction_cents)::bigint AS contraction_cents, sum(f.churn_cents)::bigint AS churn_cents
FROM (
    SELECT r.month, r.new_cents, r.expansion_cents, r.reactivation_cents, r.contraction_cents, r.churn_cents FROM finance.mrr_rollup r
    UNION ALL
    SELECT finance.month_of(d.at, z.report_tz), d.new_cents,
        d.expansion_cents + CASE WHEN x.in_month THEN greatest(d.reactivation_cents - d.left_cents, 0) ELSE 0 END,
        CASE WHEN x.in_month THEN 0 ELSE d.reactivation_cents END,
        d.contraction_cents + CASE WHEN x.in_month THEN greatest(d.left_cents - d.reactivation_cents, 0) ELSE 0 END,
        d.churn_cents - CASE WHEN x.in_month THEN d.left_cents ELSE 0 END
    FROM finance.mrr_deltas d CROSS JOIN finance.settings z
    CROSS JOIN LATERAL (SELECT finance.month_of(d.left_at, z.report_tz) = finance.month_of(d.at, z.report_tz) AS in_month) x
    UNION ALL
    SELECT finance.month_of(greatest(s.expires_at, e.at), z.report_tz), 0, 0, 0, 0, s.price_cents
    FROM subscriptions.subscriptions s CROSS JOIN finance.settings z
    JOIN LATERAL (SELECT t.at FROM subscriptions.transitions t WHERE t.subscription_id = s.id AND t.to_status = 'active' ORDER BY t.id DESC LIMIT 1) e ON true
    WHERE s.status = 'active' AND s.expires_at IS NOT NULL AND s.expires_at <= finance.now()
) f
GROUP BY f.month;
COMMENT ON VIEW finance_internal.mrr_months IS 'Movements of MRR by month, exact at any moment: the rollup, what is not folded yet, and access that has ended by its date. Read finance.mrr_movements.';
COMMENT ON COLUMN finance_internal.mrr_months.month IS 'First day of the month, in the report time zone.';
COMMENT ON COLUMN finance_internal.mrr_months.new_cents IS 'First activations ever of customers, cents a month.';
COMMENT ON COLUMN finance_internal.mrr_months.expansion_cents IS 'Higher prices while active, cents.';
COMMENT ON COLUMN finance_internal.mrr_months.reactivation_cents IS 'Returns after an exit, cents.';
COMMENT ON COLUMN finance_internal.mrr_months.contraction_cents IS 'Lower prices while active, cents.';
COMMENT ON COLUMN finance_internal.mrr_months.churn_cents IS 'Exits, cents.';

CREATE OR REPLACE VIEW finance_internal.mrr_scan AS
SELECT finance.month_of(v.at, z.report_tz) AS month,
    sum(CASE WHEN v.change = 'new' THEN v.cents ELSE 0 END)::bigint AS new_cents,
    sum(CASE WHEN v.change = 'price' OR v.change = 'return' AND x.in_month THEN greatest(v.cents - v.before_cents, 0) ELSE 0 END)::bigint AS expansion_cents,
    sum(CASE WHEN v.change = 'return' AND x.in_month IS NOT TRUE THEN v.cents ELSE 0 END)::bigint AS reactivation_cents,
    sum(CASE WHEN v.change = 'price' OR v.change = 'return' AND x.in_month THEN greatest(v.before_cents - v.cents, 0) ELSE 0 END)::bigint AS contraction_cents,
    sum(CASE WHEN v.change = 'exit' THEN v.cents WHEN v.change = 'return' AND x.in_month THEN -v.before_cents ELSE 0 END)::bigint AS churn_cents
FROM (
    SELECT m.at, m.left_at, m.cents, lag(m.cents) OVER w AS before_cents,
        CASE WHEN m.kind = 'exit' AND m.is_renewal THEN 'none' WHEN m.kind = 'exit' THEN 'exit' WHEN m.is_renewal THEN 'price'
            WHEN row_number() OVER w = 1 THEN 'new' ELSE 'return' END AS change
    FROM (
        SELECT p.customer_id, p.movement_id, p.kind, p.at, p.is_renewal, p.left_at,
            CASE WHEN c.subscription_id IS NULL THEN s.price_cents ELSE finance.price_before(p.subscription_id, p.movement_id) END AS cents
        FROM finance.movements p
        JOIN subscriptions.subscriptions s ON s.id = p.subscription_id
        LEFT JOIN (SELECT DISTINCT k.subscription_id FROM finance.price_changes k) c ON c.subscription_id = p.subscription_id
    ) m
    WINDOW w AS (PARTITION BY m.customer_id ORDER BY m.movement_id)
    UNION ALL
    SELECT q.at, NULL, q.to_cents, q.from_cents, 'price'
    FROM (
        SELECT DISTINCT ON (k.id) k.at, k.to_cents, k.from_cents, p.kind
        FROM finance.price_changes k JOIN finance.movements p ON p.subscription_id = k.subscription_id AND p.movement_id <= k.transition_id
        ORDER BY k.id, p.movement_id DESC
    ) q
    WHERE q.kind = 'entry'
) v
CROSS JOIN finance.settings z
CROSS JOIN LATERAL (SELECT finance.month_of(v.left_at, z.report_tz) = finance.month_of(v.at, z.report_tz) AS in_month) x
WHERE v.change <> 'none'
GROUP BY 1;
COMMENT ON VIEW finance_internal.mrr_scan IS 'The same as finance_internal.mrr_months, counted from finance.movements and finance.price_changes: slow, for checks.';
COMMENT ON COLUMN finance_internal.mrr_scan.month IS 'First day of the month, in the report time zone.';
COMMENT ON COLUMN finance_internal.mrr_scan.new_cents IS 'First activations ever of customers, cents a month.';
COMMENT ON COLUMN finance_internal.mrr_scan.expansion_cents IS 'Higher prices while active, cents.';
COMMENT ON COLUMN finance_internal.mrr_scan.reactivation_cents IS 'Returns after an exit, cents.';
COMMENT ON COLUMN finance_internal.mrr_scan.contraction_cents IS 'Lower prices while active, cents.';
COMMENT ON COLUMN finance_internal.mrr_scan.churn_cents IS 'Exits, cents.';

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

-- +goose StatementBegin
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
-- +goose StatementEnd
COMMENT ON FUNCTION finance.rebuild_mrr() IS 'The part of finance.rebuild for the movements of MRR: by differences, so that transactions under way keep their deltas.';

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
-- +goose StatementEnd
COMMENT ON FUNCTION finance.fold(integer) IS 'Moves the oldest deltas, at most so many of each kind, into the rollups, and returns how many there were; 0 also while somebody else folds. No figure changes by it.';

-- +goose StatementBegin
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
-- +goose StatementEnd
COMMENT ON FUNCTION finance.rebuild() IS 'Makes what is kept equal the scan: after rows were loaded with the triggers off, or when a check found differences. Reads every ledger whole; figures stay readable meanwhile, moves of subscriptions wait at the end.';

-- +goose StatementBegin
-- It sorts whole ledgers, and there is one of it at a time: hence the work_mem.
CREATE OR REPLACE FUNCTION finance.rollup_differences() RETURNS TABLE (rollup text, key text, figure text, kept bigint, counted bigint) LANGUAGE sql STABLE SET work_mem = '128MB' AS $$
SELECT * FROM finance.figure_differences()
UNION ALL
SELECT 'cohorts', coalesce(k.cohort_month, c.cohort_month) || ' in ' || coalesce(k.month, c.month), v.figure, v.kept, v.counted
FROM finance.cohort_months k FULL JOIN finance_internal.cohort_scan c ON c.cohort_month = k.cohort_month AND c.month = k.month
CROSS JOIN LATERAL (
    SELECT 'customers'::text AS figure, coalesce(k.customers, 0) AS kept, coalesce(c.customers, 0) AS counted
    UNION ALL SELECT 'change', coalesce(k.change, 0), coalesce(c.change, 0)
) v
WHERE v.kept <> v.counted
UNION ALL
SELECT 'mrr', coalesce(k.month, c.month)::text, v.figure, v.kept, v.counted
FROM finance_internal.mrr_months k FULL JOIN finance_internal.mrr_scan c ON c.month = k.month
CROSS JOIN LATERAL (
    SELECT 'new_cents'::text AS figure, coalesce(k.new_cents, 0) AS kept, coalesce(c.new_cents, 0) AS counted
    UNION ALL SELECT 'expansion_cents', coalesce(k.expansion_cents, 0), coalesce(c.expansion_cents, 0)
    UNION ALL SELECT 'reactivation_cents', coalesce(k.reactivation_cents, 0), coalesce(c.reactivation_cents, 0)
    UNION ALL SELECT 'contraction_cents', coalesce(k.contraction_cents, 0), coalesce(c.contraction_cents, 0)
    UNION ALL SELECT 'churn_cents', coalesce(k.churn_cents, 0), coalesce(c.churn_cents, 0)
) v
WHERE v.kept <> v.counted
UNION ALL
SELECT 'tenure', coalesce(k.customer_id, c.customer_id), 'access_days', k.access_days, c.access_days
FROM finance.tenure k FULL JOIN finance_internal.tenure_scan c ON c.customer_id = k.customer_id
WHERE (k.first_access_at, k.last_access_at, k.is_active, k.access_days) IS DISTINCT FROM (c.first_access_at, c.last_access_at, c.is_active, c.access_days)
UNION ALL
SELECT 'dues', coalesce(k.subscription_id, c.subscription_id), 'otherwise_on', k.otherwise_on - date '2000-01-01', c.otherwise_on - date '2000-01-01'
FROM (SELECT d.subscription_id, d.next_billing_date, nullif(d.otherwise_on, 'infinity') AS otherwise_on FROM finance.dues d) k
FULL JOIN (SELECT d.subscription_id, d.next_billing_date, nullif(d.otherwise_on, 'infinity') AS otherwise_on FROM finance_internal.due_scan d) c ON c.subscription_id = k.subscription_id
WHERE (k.subscription_id, k.next_billing_date, k.otherwise_on) IS DISTINCT FROM (c.subscription_id, c.next_billing_date, c.otherwise_on)
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION finance.rollup_differences() IS 'Where what is kept differs from the scan, by rollup (daily, returns, standing, cohorts, mrr, tenure, dues), row and column: what is kept and what the ledgers say. Empty at any moment; slow.';

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
    DELETE FROM finance.mrr_rollup;
    PERFORM finance.rebuild();
    RETURN true;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION finance.use_report_tz(text) IS 'Changes the time zone of days and months and counts the rollups anew under it; true when it was another.';

CREATE OR REPLACE VIEW finance.definitions AS
SELECT 1 AS position, 'active subscriptions' AS figure, 'status = ''active'' and (expires_at is null or in the future)' AS formula,
        'the same rule that opens the videos; suspended is not active; deleted at the gateway with paid time left is active' AS edges
UNION ALL SELECT 2, 'MRR', 'sum over active of the monthly price as it was when subscribed (snapshot, cents)',
        'a yearly PIX counts once its monthly price, not the year; the first-month discount does not lower it; a later price change of the plan does not move old subscriptions; trials count and are also shown apart as trial_mrr'
UNION ALL SELECT 3, 'mrr_gwa, mrr_gwb', 'the same by gateway', 'add up to MRR exactly'
UNION ALL SELECT 4, 'ARR', 'MRR x 12', ''
UNION ALL SELECT 5, 'average ticket', 'MRR / active, rounded', ''
UNION ALL SELECT 6, 'overdue', '(payment_failures > 0 or suspended) and status not cancelled or expired', ''
UNION ALL SELECT 7, 'days_overdue', 'calendar days from the first due date that was missed in this run of failures (of the first failure, else last_payment_at plus the period, else next_billing_date when past), at least 0; it never falls while nothing is paid', ''
UNION ALL SELECT 8, 'total_amount_at_risk', 'sum of the monthly prices of the overdue', ''
UNION ALL SELECT 9, 'exits', 'transitions out of active that end access; unit is the customer; moment is when access stops, not when cancelling was asked',
        'replacing a subscription by renewal is no exit; suspended and paid again within the period is no exit; someone who joins and leaves in the period counts in new and cancelled'
UNION ALL SELECT 10, 'churn of a month', 'cancelled / active_start x 100; active_end = active_start + new - cancelled holds in every row', 'may exceed 100'
UNION ALL SELECT 11, 'churn_rate_30d', 'exits in the last 30 days / active 30 days ago x 100', ''
UNION ALL SELECT 12, 'by_reason', 'payment_failure, customer_cancelled, admin_cancelled, chargeback, expired', 'every exit has exactly one; gone_at_gateway (missing at the gateway, seen twice) counts under admin_cancelled'
UNION ALL SELECT 13, 'gross (series)', 'subscription payments settled in the bucket, by time of payment, once per gateway payment',
        'cash basis: a yearly PIX is whole in its month; card CONFIRMED and, 32 days later, RECEIVED are one payment; ticket sales stay in the events dashboard'
UNION ALL SELECT 14, 'refunds, chargebacks (series)', 'by time of refund, of dispute', 'a won dispute counts back in its own bucket'
UNION ALL SELECT 15, 'net (series)', 'gross - refunds - chargebacks', 'may be negative'
UNION ALL SELECT 16, 'net_revenue_30d', 'MRR - refunds of the last 30 days', 'cash_net_30d is given beside it: gross - refunds - chargebacks of the same days'
UNION ALL SELECT 17, 'payment_success_rate', 'settled attempts / (settled + failed attempts) of the last 30 days x 100',
        'an attempt is one (gateway, payment or invoice, attempt number); a PIX that merely ran out is no attempt'
UNION ALL SELECT 18, 'total_refunded, total_chargebacks', 'sums of the ledgers of subscriptions, all time, cents', ''
UNION ALL SELECT 19, 'order revenue (events)', 'sum of total of paid orders (CONFIRMED, RECEIVED, succeeded) minus what was refunded of them, reais; none of a called off event', 'by time of payment; a whole refund or CHARGEBACK_LOST leaves 0'
UNION ALL SELECT 20, 'occupancy_pct', 'live tickets (pending, available, consumed) / capacity x 100', '0 for unlimited; none of a called off event'
UNION ALL SELECT 21, 'tickets sold / promo', 'with an order / with a promo code and no order', 'not counting expired-unpaid'
UNION ALL SELECT 22, 'average order value; tickets per order', 'paid revenue / paid orders; tickets of paid orders / paid orders', ''
UNION ALL SELECT 23, 'tenure', 'days with access of a customer who ever had it', 'until now for who has it'
UNION ALL SELECT 24, 'cohort', 'customers by the month in which they first gained access; retained: percent of them with access at the end of that and of each later month', 'of the present month, now'
UNION ALL SELECT 25, 'ltv', 'net (series) of all time / customers who ever had access, rounded', ''
UNION ALL SELECT 26, 'reactivations', 'new of the months less the customers whose first access began in them', ''
UNION ALL SELECT 27, 'upgrades', 'moves to a plan of a higher tier, by an admin or by subscribing anew', ''
UNION ALL SELECT 28, 'failed payments; recovered', 'failed attempts of subscription payments; of these, followed by a settled payment of the subscription within 30 days', ''
UNION ALL SELECT 29, 'movements of a month', 'opening MRR + new + expansion + reactivation - contraction - churn = closing MRR, to the cent, by customer',
        'new: first activation ever of the customer; reactivation: a return after an exit; expansion, contraction: another price while active; a replacement by renewal is none, but for another price; a subscription that returns within the month of its exit is none, but for another price; a trial counts as MRR does';
COMMENT ON VIEW finance.definitions IS 'What each figure means, one row a figure, also at GET /api/v1/admin/finance/definitions. Everywhere: money in integer cents, half-open intervals, days and months of the report time zone, a zero denominator gives 0, percentages rounded half up to two decimals.';
COMMENT ON COLUMN finance.definitions.position IS 'Order of reading.';
COMMENT ON COLUMN finance.definitions.figure IS 'Name, as in the API.';
COMMENT ON COLUMN finance.definitions.formula IS 'How it is computed.';
COMMENT ON COLUMN finance.definitions.edges IS 'What holds at the edges; empty when there is nothing to say.';

CREATE TRIGGER finance_subscription_priced AFTER UPDATE OF price_cents ON subscriptions.subscriptions FOR EACH ROW
    WHEN (OLD.price_cents IS DISTINCT FROM NEW.price_cents) EXECUTE FUNCTION finance.note_price();
CREATE TRIGGER finance_transition_priced AFTER INSERT ON subscriptions.transitions FOR EACH ROW
    WHEN (NEW.from_status = 'active' OR NEW.to_status = 'active') EXECUTE FUNCTION finance.note_mrr();
SELECT finance.grant_analysts();

-- +goose Down
DROP TRIGGER finance_transition_priced ON subscriptions.transitions;
DROP TRIGGER finance_subscription_priced ON subscriptions.subscriptions;
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
COMMENT ON FUNCTION finance.fold(integer) IS 'Moves the oldest deltas, at most so many of each kind, into the rollups, and returns how many there were; 0 also while somebody else folds. No figure changes by it.';

-- +goose StatementBegin
-- It sorts whole ledgers, and there is one of it at a time: hence the work_mem.
CREATE OR REPLACE FUNCTION finance.rebuild() RETURNS void LANGUAGE plpgsql SET work_mem = '128MB' AS $$
BEGIN
    PERFORM finance.rebuild_figures();
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
-- +goose StatementEnd
COMMENT ON FUNCTION finance.rebuild() IS 'Makes what is kept equal the scan: after rows were loaded with the triggers off, or when a check found differences. Reads every ledger whole; figures stay readable meanwhile, moves of subscriptions wait at the end.';

-- +goose StatementBegin
-- It sorts whole ledgers, and there is one of it at a time: hence the work_mem.
CREATE OR REPLACE FUNCTION finance.rollup_differences() RETURNS TABLE (rollup text, key text, figure text, kept bigint, counted bigint) LANGUAGE sql STABLE SET work_mem = '128MB' AS $$
SELECT * FROM finance.figure_differences()
UNION ALL
SELECT 'cohorts', coalesce(k.cohort_month, c.cohort_month) || ' in ' || coalesce(k.month, c.month), v.figure, v.kept, v.counted
FROM finance.cohort_months k FULL JOIN finance_internal.cohort_scan c ON c.cohort_month = k.cohort_month AND c.month = k.month
CROSS JOIN LATERAL (
    SELECT 'customers'::text AS figure, coalesce(k.customers, 0) AS kept, coalesce(c.customers, 0) AS counted
    UNION ALL SELECT 'change', coalesce(k.change, 0), coalesce(c.change, 0)
) v
WHERE v.kept <> v.counted
UNION ALL
SELECT 'tenure', coalesce(k.customer_id, c.customer_id), 'access_days', k.access_days, c.access_days
FROM finance.tenure k FULL JOIN finance_internal.tenure_scan c ON c.customer_id = k.customer_id
WHERE (k.first_access_at, k.last_access_at, k.is_active, k.access_days) IS DISTINCT FROM (c.first_access_at, c.last_access_at, c.is_active, c.access_days)
UNION ALL
SELECT 'dues', coalesce(k.subscription_id, c.subscription_id), 'otherwise_on', k.otherwise_on - date '2000-01-01', c.otherwise_on - date '2000-01-01'
FROM (SELECT d.subscription_id, d.next_billing_date, nullif(d.otherwise_on, 'infinity') AS otherwise_on FROM finance.dues d) k
FULL JOIN (SELECT d.subscription_id, d.next_billing_date, nullif(d.otherwise_on, 'infinity') AS otherwise_on FROM finance_internal.due_scan d) c ON c.subscription_id = k.subscription_id
WHERE (k.subscription_id, k.next_billing_date, k.otherwise_on) IS DISTINCT FROM (c.subscription_id, c.next_billing_date, c.otherwise_on)
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION finance.rollup_differences() IS 'Where what is kept differs from the scan, by rollup (daily, returns, standing, cohorts, tenure, dues), row and column: what is kept and what the ledgers say. Empty at any moment; slow.';

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
COMMENT ON FUNCTION finance.use_report_tz(text) IS 'Changes the time zone of days and months and counts the rollups anew under it; true when it was another.';

CREATE OR REPLACE VIEW finance.definitions AS
SELECT 1 AS position, 'active subscriptions' AS figure, 'status = ''active'' and (expires_at is null or in the future)' AS formula,
        'the same rule that opens the videos; suspended is not active; deleted at the gateway with paid time left is active' AS edges
UNION ALL SELECT 2, 'MRR', 'sum over active of the monthly price as it was when subscribed (snapshot, cents)',
        'a yearly PIX counts once its monthly price, not the year; the first-month discount does not lower it; a later price change of the plan does not move old subscriptions; trials count and are also shown apart as trial_mrr'
UNION ALL SELECT 3, 'mrr_gwa, mrr_gwb', 'the same by gateway', 'add up to MRR exactly'
UNION ALL SELECT 4, 'ARR', 'MRR x 12', ''
UNION ALL SELECT 5, 'average ticket', 'MRR / active, rounded', ''
UNION ALL SELECT 6, 'overdue', '(payment_failures > 0 or suspended) and status not cancelled or expired', ''
UNION ALL SELECT 7, 'days_overdue', 'calendar days from the first due date that was missed in this run of failures (of the first failure, else last_payment_at plus the period, else next_billing_date when past), at least 0; it never falls while nothing is paid', ''
UNION ALL SELECT 8, 'total_amount_at_risk', 'sum of the monthly prices of the overdue', ''
UNION ALL SELECT 9, 'exits', 'transitions out of active that end access; unit is the customer; moment is when access stops, not when cancelling was asked',
        'replacing a subscription by renewal is no exit; suspended and paid again within the period is no exit; someone who joins and leaves in the period counts in new and cancelled'
UNION ALL SELECT 10, 'churn of a month', 'cancelled / active_start x 100; active_end = active_start + new - cancelled holds in every row', 'may exceed 100'
UNION ALL SELECT 11, 'churn_rate_30d', 'exits in the last 30 days / active 30 days ago x 100', ''
UNION ALL SELECT 12, 'by_reason', 'payment_failure, customer_cancelled, admin_cancelled, chargeback, expired', 'every exit has exactly one; gone_at_gateway (missing at the gateway, seen twice) counts under admin_cancelled'
UNION ALL SELECT 13, 'gross (series)', 'subscription payments settled in the bucket, by time of payment, once per gateway payment',
        'cash basis: a yearly PIX is whole in its month; card CONFIRMED and, 32 days later, RECEIVED are one payment; ticket sales stay in the events dashboard'
UNION ALL SELECT 14, 'refunds, chargebacks (series)', 'by time of refund, of dispute', 'a won dispute counts back in its own bucket'
UNION ALL SELECT 15, 'net (series)', 'gross - refunds - chargebacks', 'may be negative'
UNION ALL SELECT 16, 'net_revenue_30d', 'MRR - refunds of the last 30 days', 'cash_net_30d is given beside it: gross - refunds - chargebacks of the same days'
UNION ALL SELECT 17, 'payment_success_rate', 'settled attempts / (settled + failed attempts) of the last 30 days x 100',
        'an attempt is one (gateway, payment or invoice, attempt number); a PIX that merely ran out is no attempt'
UNION ALL SELECT 18, 'total_refunded, total_chargebacks', 'sums of the ledgers of subscriptions, all time, cents', ''
UNION ALL SELECT 19, 'order revenue (events)', 'sum of total of paid orders (CONFIRMED, RECEIVED, succeeded) minus what was refunded of them, reais; none of a called off event', 'by time of payment; a whole refund or CHARGEBACK_LOST leaves 0'
UNION ALL SELECT 20, 'occupancy_pct', 'live tickets (pending, available, consumed) / capacity x 100', '0 for unlimited; none of a called off event'
UNION ALL SELECT 21, 'tickets sold / promo', 'with an order / with a promo code and no order', 'not counting expired-unpaid'
UNION ALL SELECT 22, 'average order value; tickets per order', 'paid revenue / paid orders; tickets of paid orders / paid orders', ''
UNION ALL SELECT 23, 'tenure', 'days with access of a customer who ever had it', 'until now for who has it'
UNION ALL SELECT 24, 'cohort', 'customers by the month in which they first gained access; retained: percent of them with access at the end of that and of each later month', 'of the present month, now'
UNION ALL SELECT 25, 'ltv', 'net (series) of all time / customers who ever had access, rounded', ''
UNION ALL SELECT 26, 'reactivations', 'new of the months less the customers whose first access began in them', ''
UNION ALL SELECT 27, 'upgrades', 'moves to a plan of a higher tier, by an admin or by subscribing anew', ''
UNION ALL SELECT 28, 'failed payments; recovered', 'failed attempts of subscription payments; of these, followed by a settled payment of the subscription within 30 days', '';
COMMENT ON VIEW finance.definitions IS 'What each figure means, one row a figure, also at GET /api/v1/admin/finance/definitions. Everywhere: money in integer cents, half-open intervals, days and months of the report time zone, a zero denominator gives 0, percentages rounded half up to two decimals.';
COMMENT ON COLUMN finance.definitions.position IS 'Order of reading.';
COMMENT ON COLUMN finance.definitions.figure IS 'Name, as in the API.';
COMMENT ON COLUMN finance.definitions.formula IS 'How it is computed.';
COMMENT ON COLUMN finance.definitions.edges IS 'What holds at the edges; empty when there is nothing to say.';

DROP VIEW finance.mrr_movements;
DROP FUNCTION finance.rebuild_mrr();
DROP VIEW finance_internal.mrr_scan;
DROP VIEW finance_internal.mrr_months;
DROP FUNCTION finance.note_mrr();
DROP FUNCTION finance.note_price();
DROP FUNCTION finance.price_before(text, bigint);
DROP TABLE finance.mrr_rollup;
DROP TABLE finance.mrr_deltas;
DROP TABLE finance.price_changes;
