-- +goose Up
CREATE TABLE subscriptions.order_transitions (
    id bigint GENERATED ALWAYS AS IDENTITY,
    subscription_id platform.object_id NOT NULL,
    kind text NOT NULL COLLATE "C",
    item text NOT NULL COLLATE "C",
    at timestamptz NOT NULL,
    from_state text COLLATE "C",
    to_state text NOT NULL COLLATE "C",
    action text NOT NULL COLLATE "C",
    reason text COLLATE "C",
    CONSTRAINT order_transitions_pkey PRIMARY KEY (subscription_id, kind, item, id),
    CONSTRAINT order_transitions_kind_known CHECK (kind IN ('renewal_charge', 'plan_move', 'charge_move', 'pause', 'debit_retry')),
    CONSTRAINT order_transitions_moves CHECK (from_state IS DISTINCT FROM to_state),
    CONSTRAINT order_transitions_has_action CHECK (action <> ''),
    CONSTRAINT order_transitions_reason_said CHECK (reason <> '')
);
COMMENT ON TABLE subscriptions.order_transitions IS 'Every change of the state of an order beside a subscription (a code for a further period, a move to another plan or of the next charge, a pause, a retry of a debit), append-only, written by the statement that makes it.';
COMMENT ON COLUMN subscriptions.order_transitions.id IS 'Their order; 0 of where an order from before the history stood when that began.';
COMMENT ON COLUMN subscriptions.order_transitions.kind IS 'As payments.intents.kind: the table of the order.';
COMMENT ON COLUMN subscriptions.order_transitions.item IS 'The id of the order; of a retry its cycle and its day, such as 2026-12-10/2026-12-13.';
COMMENT ON COLUMN subscriptions.order_transitions.from_state IS 'Null for the row that began the order.';
COMMENT ON COLUMN subscriptions.order_transitions.action IS 'By the tables in modules/subscriptions/state/order.go; not_recorded: of an order from before the history, or of a statement that wrote none.';
COMMENT ON COLUMN subscriptions.order_transitions.reason IS 'Of the action, by the same tables, or the gateway''s word; null where nothing was said.';
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION subscriptions.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'subscriptions.% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION subscriptions.refuse_change() IS 'Keeps a history append-only, also against people at psql.';
CREATE TRIGGER order_transitions_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON subscriptions.order_transitions
    FOR EACH STATEMENT EXECUTE FUNCTION subscriptions.refuse_change();
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION subscriptions.note_order_move() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    moved jsonb := to_jsonb(NEW);
    of text := CASE TG_ARGV[0] WHEN 'debit_retry' THEN concat_ws('/', moved->>'cycle', moved->>'retry_date') ELSE moved->>'id' END;
BEGIN
    IF NEW.state IS DISTINCT FROM (
        SELECT t.to_state FROM subscriptions.order_transitions t
        WHERE t.subscription_id = NEW.subscription_id AND t.kind = TG_ARGV[0] AND t.item = of ORDER BY t.id DESC LIMIT 1)
    THEN
        INSERT INTO subscriptions.order_transitions (subscription_id, kind, item, at, from_state, to_state, action)
        VALUES (NEW.subscription_id, TG_ARGV[0], of, now(), OLD.state, NEW.state, 'not_recorded');
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION subscriptions.note_order_move() IS 'Keeps the history of an order beside a subscription unbroken where a statement moves it without: of the release before, or at psql. What the statement itself has written it sees. Its argument is the kind.';
CREATE TRIGGER renewal_charges_begin_unnoted AFTER INSERT ON subscriptions.renewal_charges
    FOR EACH ROW EXECUTE FUNCTION subscriptions.note_order_move('renewal_charge');
CREATE TRIGGER renewal_charges_move_unnoted AFTER UPDATE OF state ON subscriptions.renewal_charges
    FOR EACH ROW WHEN (NEW.state <> OLD.state) EXECUTE FUNCTION subscriptions.note_order_move('renewal_charge');
CREATE TRIGGER plan_moves_begin_unnoted AFTER INSERT ON subscriptions.plan_moves
    FOR EACH ROW EXECUTE FUNCTION subscriptions.note_order_move('plan_move');
CREATE TRIGGER plan_moves_move_unnoted AFTER UPDATE OF state ON subscriptions.plan_moves
    FOR EACH ROW WHEN (NEW.state <> OLD.state) EXECUTE FUNCTION subscriptions.note_order_move('plan_move');
CREATE TRIGGER charge_moves_begin_unnoted AFTER INSERT ON subscriptions.charge_moves
    FOR EACH ROW EXECUTE FUNCTION subscriptions.note_order_move('charge_move');
CREATE TRIGGER charge_moves_move_unnoted AFTER UPDATE OF state ON subscriptions.charge_moves
    FOR EACH ROW WHEN (NEW.state <> OLD.state) EXECUTE FUNCTION subscriptions.note_order_move('charge_move');
CREATE TRIGGER pauses_begin_unnoted AFTER INSERT ON subscriptions.pauses
    FOR EACH ROW EXECUTE FUNCTION subscriptions.note_order_move('pause');
CREATE TRIGGER pauses_move_unnoted AFTER UPDATE OF state ON subscriptions.pauses
    FOR EACH ROW WHEN (NEW.state <> OLD.state) EXECUTE FUNCTION subscriptions.note_order_move('pause');
CREATE TRIGGER debit_retries_begin_unnoted AFTER INSERT ON subscriptions.debit_retries
    FOR EACH ROW EXECUTE FUNCTION subscriptions.note_order_move('debit_retry');
CREATE TRIGGER debit_retries_move_unnoted AFTER UPDATE OF state ON subscriptions.debit_retries
    FOR EACH ROW WHEN (NEW.state <> OLD.state) EXECUTE FUNCTION subscriptions.note_order_move('debit_retry');

-- +goose Down
DROP TRIGGER debit_retries_move_unnoted ON subscriptions.debit_retries;
DROP TRIGGER debit_retries_begin_unnoted ON subscriptions.debit_retries;
DROP TRIGGER pauses_move_unnoted ON subscriptions.pauses;
DROP TRIGGER pauses_begin_unnoted ON subscriptions.pauses;
DROP TRIGGER charge_moves_move_unnoted ON subscriptions.charge_moves;
DROP TRIGGER charge_moves_begin_unnoted ON subscriptions.charge_moves;
DROP TRIGGER plan_moves_move_unnoted ON subscriptions.plan_moves;
DROP TRIGGER plan_moves_begin_unnoted ON subscriptions.plan_moves;
DROP TRIGGER renewal_charges_move_unnoted ON subscriptions.renewal_charges;
DROP TRIGGER renewal_charges_begin_unnoted ON subscriptions.renewal_charges;
DROP FUNCTION subscriptions.note_order_move();
DROP TABLE subscriptions.order_transitions;
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION subscriptions.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'subscriptions.transitions is append-only' USING ERRCODE = 'restrict_violation';
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION subscriptions.refuse_change() IS 'Keeps the history append-only, also against people at psql.';
