-- +goose Up
CREATE INDEX transitions_of_access ON subscriptions.transitions (customer_id, id) WHERE from_status = 'active' OR to_status = 'active';
COMMENT ON INDEX subscriptions.transitions_of_access IS 'A customer''s movements, in order.';

CREATE TABLE finance.daily_deltas (
    id                bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at                timestamptz NOT NULL,
    left_at           timestamptz,
    reason            text COLLATE "C",
    gross_gwa_cents   bigint NOT NULL DEFAULT 0,
    gross_gwb_cents   bigint NOT NULL DEFAULT 0,
    payments          bigint NOT NULL DEFAULT 0,
    failed_attempts   bigint NOT NULL DEFAULT 0,
    refunds_cents     bigint NOT NULL DEFAULT 0,
    chargebacks_cents bigint NOT NULL DEFAULT 0,
    entries           bigint NOT NULL DEFAULT 0,
    exits             bigint NOT NULL DEFAULT 0
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 10000);
COMMENT ON TABLE finance.daily_deltas IS 'What transactions changed in the figures by day: inserted by triggers in the same transaction, never updated, taken out by finance.fold. Instants, not days, so that a change of the report time zone leaves them right.';
COMMENT ON COLUMN finance.daily_deltas.at IS 'When it counts.';
COMMENT ON COLUMN finance.daily_deltas.left_at IS 'Of the entry of a subscription that comes back: when its access had stopped.';
COMMENT ON COLUMN finance.daily_deltas.reason IS 'Of exits, and of such entries that of the exit: one of the five reasons.';
COMMENT ON COLUMN finance.daily_deltas.exits IS 'Negative: an exit that a renewal undid.';

CREATE TABLE finance.daily_rollup (
    day date PRIMARY KEY,
    gross_gwa_cents bigint NOT NULL DEFAULT 0,
    gross_gwb_cents bigint NOT NULL DEFAULT 0,
    payments bigint NOT NULL DEFAULT 0,
    failed_attempts bigint NOT NULL DEFAULT 0,
    refunds_cents bigint NOT NULL DEFAULT 0,
    chargebacks_cents bigint NOT NULL DEFAULT 0,
    entries bigint NOT NULL DEFAULT 0,
    exits_payment_failure bigint NOT NULL DEFAULT 0,
    exits_customer_cancelled bigint NOT NULL DEFAULT 0,
    exits_admin_cancelled bigint NOT NULL DEFAULT 0,
    exits_chargeback bigint NOT NULL DEFAULT 0,
    exits_expired bigint NOT NULL DEFAULT 0,
    returned_in_day bigint NOT NULL DEFAULT 0,
    returned_in_month_payment_failure bigint NOT NULL DEFAULT 0,
    returned_in_month_customer_cancelled bigint NOT NULL DEFAULT 0,
    returned_in_month_admin_cancelled bigint NOT NULL DEFAULT 0,
    returned_in_month_chargeback bigint NOT NULL DEFAULT 0,
    returned_in_month_expired bigint NOT NULL DEFAULT 0
);
COMMENT ON TABLE finance.daily_rollup IS 'Folded deltas, one row a day in the report time zone. Read finance.daily, which adds what is not folded yet.';

CREATE TABLE finance.return_rollup (
    day      date NOT NULL,
    left_day date NOT NULL,
    returns  bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (day, left_day)
);
COMMENT ON TABLE finance.return_rollup IS 'Folded deltas: subscriptions whose access came back on day and had stopped on left_day, so that both can be left out of any period that holds both. Read finance.returns.';

CREATE TABLE finance.standing_deltas (
    id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    gateway        text COLLATE "C" NOT NULL,
    payment_method text COLLATE "C" NOT NULL,
    plan_id        text COLLATE "C" NOT NULL,
    active bigint NOT NULL DEFAULT 0,
    mrr_cents bigint NOT NULL DEFAULT 0,
    trials bigint NOT NULL DEFAULT 0,
    trial_mrr_cents bigint NOT NULL DEFAULT 0,
    overdue bigint NOT NULL DEFAULT 0,
    at_risk_cents bigint NOT NULL DEFAULT 0,
    customers bigint NOT NULL DEFAULT 0
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 10000);
COMMENT ON TABLE finance.standing_deltas IS 'What transactions changed in the present figures: inserted by triggers in the same transaction, never updated, taken out by finance.fold. By status alone: expiry by the date is judged when read.';
COMMENT ON COLUMN finance.standing_deltas.gateway IS 'Empty, as method and plan, in rows that count customers.';

CREATE TABLE finance.standing_rollup (
    gateway        text COLLATE "C" NOT NULL,
    payment_method text COLLATE "C" NOT NULL,
    plan_id        text COLLATE "C" NOT NULL,
    active bigint NOT NULL DEFAULT 0,
    mrr_cents bigint NOT NULL DEFAULT 0,
    trials bigint NOT NULL DEFAULT 0,
    trial_mrr_cents bigint NOT NULL DEFAULT 0,
    overdue bigint NOT NULL DEFAULT 0,
    at_risk_cents bigint NOT NULL DEFAULT 0,
    customers bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (gateway, payment_method, plan_id)
);
COMMENT ON TABLE finance.standing_rollup IS 'Folded deltas, one row a gateway, payment method and plan. Read finance.standing, which adds what is not folded yet and takes off what has expired.';

CREATE TABLE finance.checks (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    checked_at  timestamptz NOT NULL,
    differences bigint NOT NULL,
    examples    jsonb NOT NULL,
    took_ms     bigint NOT NULL
);
COMMENT ON TABLE finance.checks IS 'Nightly comparisons of the rollups with the scan. Every row should say 0 differences.';
COMMENT ON COLUMN finance.checks.examples IS 'Up to 20 of the differences, as rows of finance.rollup_differences.';

-- +goose StatementBegin
CREATE FUNCTION finance.note_payment() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' AND OLD.purpose = 'subscription' THEN
        INSERT INTO finance.daily_deltas (at, gross_gwa_cents, gross_gwb_cents, payments)
        VALUES (OLD.settled_at, CASE OLD.gateway WHEN 'gwa' THEN -OLD.amount_cents ELSE 0 END, CASE OLD.gateway WHEN 'gwb' THEN -OLD.amount_cents ELSE 0 END, -1);
    END IF;
    IF TG_OP <> 'DELETE' AND NEW.purpose = 'subscription' THEN
        INSERT INTO finance.daily_deltas (at, gross_gwa_cents, gross_gwb_cents, payments)
        VALUES (NEW.settled_at, CASE NEW.gateway WHEN 'gwa' THEN NEW.amount_cents ELSE 0 END, CASE NEW.gateway WHEN 'gwb' THEN NEW.amount_cents ELSE 0 END, 1);
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION finance.note_payment() IS 'Writes what a change of payments.payments means for the figures by day.';

-- +goose StatementBegin
CREATE FUNCTION finance.note_failed_attempt() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' AND OLD.purpose = 'subscription' THEN
        INSERT INTO finance.daily_deltas (at, failed_attempts) VALUES (OLD.failed_at, -1);
    END IF;
    IF TG_OP <> 'DELETE' AND NEW.purpose = 'subscription' THEN
        INSERT INTO finance.daily_deltas (at, failed_attempts) VALUES (NEW.failed_at, 1);
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION finance.note_failed_attempt() IS 'Writes what a change of payments.failed_attempts means for the figures by day.';

-- +goose StatementBegin
CREATE FUNCTION finance.note_refund() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' AND OLD.purpose = 'subscription' AND OLD.status = 'done' THEN
        INSERT INTO finance.daily_deltas (at, refunds_cents) VALUES (OLD.refunded_at, -OLD.amount_cents);
    END IF;
    IF TG_OP <> 'DELETE' AND NEW.purpose = 'subscription' AND NEW.status = 'done' THEN
        INSERT INTO finance.daily_deltas (at, refunds_cents) VALUES (NEW.refunded_at, NEW.amount_cents);
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION finance.note_refund() IS 'Writes what a change of payments.refunds means for the figures by day.';

-- +goose StatementBegin
CREATE FUNCTION finance.note_dispute() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' AND OLD.purpose = 'subscription' THEN
        IF OLD.state IN ('open', 'won', 'lost') THEN
            INSERT INTO finance.daily_deltas (at, chargebacks_cents) VALUES (OLD.opened_at, -OLD.amount_cents);
        END IF;
        IF OLD.state = 'won' THEN
            INSERT INTO finance.daily_deltas (at, chargebacks_cents) VALUES (OLD.closed_at, OLD.amount_cents);
        END IF;
    END IF;
    IF TG_OP <> 'DELETE' AND NEW.purpose = 'subscription' THEN
        IF NEW.state IN ('open', 'won', 'lost') THEN
            INSERT INTO finance.daily_deltas (at, chargebacks_cents) VALUES (NEW.opened_at, NEW.amount_cents);
        END IF;
        IF NEW.state = 'won' THEN
            INSERT INTO finance.daily_deltas (at, chargebacks_cents) VALUES (NEW.closed_at, -NEW.amount_cents);
        END IF;
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION finance.note_dispute() IS 'Writes what a change of payments.disputes means for the figures by day.';

-- +goose StatementBegin
CREATE FUNCTION finance.note_transition() RETURNS trigger LANGUAGE plpgsql AS $$
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
COMMENT ON FUNCTION finance.note_transition() IS 'Writes what a move into or out of active means for the figures by day; finance.movements says the same of all rows. A renewal that is paid undoes the exit of what it replaced.';

-- +goose StatementBegin
CREATE FUNCTION finance.note_subscription() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO finance.standing_deltas (gateway, payment_method, plan_id, active, mrr_cents, trials, trial_mrr_cents, overdue, at_risk_cents)
    SELECT c.gateway, c.payment_method, c.plan_id, sum(c.sign * c.active), sum(c.sign * c.active * c.price_cents), sum(c.sign * c.trial),
        sum(c.sign * c.trial * c.price_cents), sum(c.sign * c.overdue), sum(c.sign * c.overdue * c.price_cents)
    FROM (
        SELECT s.sign, s.gateway, s.payment_method, s.plan_id, s.price_cents,
            (s.status = 'active')::int AS active,
            (s.status = 'active' AND s.trial_days > 0 AND s.last_payment_at IS NULL)::int AS trial,
            ((s.payment_failures > 0 OR s.status = 'suspended') AND s.status NOT IN ('cancelled', 'expired'))::int AS overdue
        FROM (VALUES
            (1, NEW.gateway, NEW.payment_method, NEW.plan_id, NEW.price_cents, NEW.status, NEW.trial_days, NEW.last_payment_at, NEW.payment_failures),
            (-1, OLD.gateway, OLD.payment_method, OLD.plan_id, OLD.price_cents, OLD.status, OLD.trial_days, OLD.last_payment_at, OLD.payment_failures)
        ) AS s (sign, gateway, payment_method, plan_id, price_cents, status, trial_days, last_payment_at, payment_failures)
        WHERE s.gateway IS NOT NULL
    ) c
    GROUP BY c.gateway, c.payment_method, c.plan_id
    HAVING sum(c.sign * c.active) <> 0 OR sum(c.sign * c.active * c.price_cents) <> 0 OR sum(c.sign * c.trial) <> 0
        OR sum(c.sign * c.trial * c.price_cents) <> 0 OR sum(c.sign * c.overdue) <> 0 OR sum(c.sign * c.overdue * c.price_cents) <> 0;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION finance.note_subscription() IS 'Writes what a change of subscriptions.subscriptions means for the present figures. NEW or OLD is all null where there is none.';

-- +goose StatementBegin
CREATE FUNCTION finance.note_customer() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    change integer := 0;
BEGIN
    IF TG_OP <> 'DELETE' AND NEW.user_type = 'customer' AND NEW.deleted_at IS NULL THEN
        change := 1;
    END IF;
    IF TG_OP <> 'INSERT' AND OLD.user_type = 'customer' AND OLD.deleted_at IS NULL THEN
        change := change - 1;
    END IF;
    IF change <> 0 THEN
        INSERT INTO finance.standing_deltas (gateway, payment_method, plan_id, customers) VALUES ('', '', '', change);
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION finance.note_customer() IS 'Counts customers that are not deleted.';

CREATE TRIGGER finance_payment_added AFTER INSERT OR DELETE ON payments.payments FOR EACH ROW EXECUTE FUNCTION finance.note_payment();
CREATE TRIGGER finance_payment_changed AFTER UPDATE OF gateway, purpose, amount_cents, settled_at ON payments.payments FOR EACH ROW
    WHEN ((OLD.gateway, OLD.purpose, OLD.amount_cents, OLD.settled_at) IS DISTINCT FROM (NEW.gateway, NEW.purpose, NEW.amount_cents, NEW.settled_at))
    EXECUTE FUNCTION finance.note_payment();
CREATE TRIGGER finance_failed_attempt_added AFTER INSERT OR DELETE ON payments.failed_attempts FOR EACH ROW EXECUTE FUNCTION finance.note_failed_attempt();
CREATE TRIGGER finance_failed_attempt_changed AFTER UPDATE OF purpose, failed_at ON payments.failed_attempts FOR EACH ROW
    WHEN ((OLD.purpose, OLD.failed_at) IS DISTINCT FROM (NEW.purpose, NEW.failed_at)) EXECUTE FUNCTION finance.note_failed_attempt();
CREATE TRIGGER finance_refund_added AFTER INSERT OR DELETE ON payments.refunds FOR EACH ROW EXECUTE FUNCTION finance.note_refund();
CREATE TRIGGER finance_refund_changed AFTER UPDATE ON payments.refunds FOR EACH ROW
    WHEN ((OLD.purpose, OLD.status, OLD.amount_cents, OLD.refunded_at) IS DISTINCT FROM (NEW.purpose, NEW.status, NEW.amount_cents, NEW.refunded_at))
    EXECUTE FUNCTION finance.note_refund();
CREATE TRIGGER finance_dispute_added AFTER INSERT OR DELETE ON payments.disputes FOR EACH ROW EXECUTE FUNCTION finance.note_dispute();
CREATE TRIGGER finance_dispute_changed AFTER UPDATE ON payments.disputes FOR EACH ROW
    WHEN ((OLD.purpose, OLD.state, OLD.amount_cents, OLD.opened_at, OLD.closed_at) IS DISTINCT FROM (NEW.purpose, NEW.state, NEW.amount_cents, NEW.opened_at, NEW.closed_at))
    EXECUTE FUNCTION finance.note_dispute();
CREATE TRIGGER finance_transition_added AFTER INSERT ON subscriptions.transitions FOR EACH ROW
    WHEN (NEW.from_status = 'active' OR NEW.to_status = 'active') EXECUTE FUNCTION finance.note_transition();
CREATE TRIGGER finance_subscription_added AFTER INSERT OR DELETE ON subscriptions.subscriptions FOR EACH ROW EXECUTE FUNCTION finance.note_subscription();
CREATE TRIGGER finance_subscription_changed AFTER UPDATE ON subscriptions.subscriptions FOR EACH ROW
    WHEN ((OLD.gateway, OLD.payment_method, OLD.plan_id, OLD.price_cents, OLD.status, OLD.trial_days, OLD.last_payment_at IS NULL, OLD.payment_failures > 0)
        IS DISTINCT FROM (NEW.gateway, NEW.payment_method, NEW.plan_id, NEW.price_cents, NEW.status, NEW.trial_days, NEW.last_payment_at IS NULL, NEW.payment_failures > 0))
    EXECUTE FUNCTION finance.note_subscription();
CREATE TRIGGER finance_customer_added AFTER INSERT OR DELETE ON accounts.users FOR EACH ROW EXECUTE FUNCTION finance.note_customer();
CREATE TRIGGER finance_customer_changed AFTER UPDATE OF user_type, deleted_at ON accounts.users FOR EACH ROW
    WHEN ((OLD.user_type, OLD.deleted_at IS NULL) IS DISTINCT FROM (NEW.user_type, NEW.deleted_at IS NULL)) EXECUTE FUNCTION finance.note_customer();

-- +goose Down
DROP TRIGGER finance_customer_changed ON accounts.users;
DROP TRIGGER finance_customer_added ON accounts.users;
DROP TRIGGER finance_subscription_changed ON subscriptions.subscriptions;
DROP TRIGGER finance_subscription_added ON subscriptions.subscriptions;
DROP TRIGGER finance_transition_added ON subscriptions.transitions;
DROP TRIGGER finance_dispute_changed ON payments.disputes;
DROP TRIGGER finance_dispute_added ON payments.disputes;
DROP TRIGGER finance_refund_changed ON payments.refunds;
DROP TRIGGER finance_refund_added ON payments.refunds;
DROP TRIGGER finance_failed_attempt_changed ON payments.failed_attempts;
DROP TRIGGER finance_failed_attempt_added ON payments.failed_attempts;
DROP TRIGGER finance_payment_changed ON payments.payments;
DROP TRIGGER finance_payment_added ON payments.payments;
DROP FUNCTION finance.note_customer();
DROP FUNCTION finance.note_subscription();
DROP FUNCTION finance.note_transition();
DROP FUNCTION finance.note_dispute();
DROP FUNCTION finance.note_refund();
DROP FUNCTION finance.note_failed_attempt();
DROP FUNCTION finance.note_payment();
DROP TABLE finance.checks;
DROP TABLE finance.standing_rollup;
DROP TABLE finance.standing_deltas;
DROP TABLE finance.return_rollup;
DROP TABLE finance.daily_rollup;
DROP TABLE finance.daily_deltas;
DROP INDEX subscriptions.transitions_of_access;
