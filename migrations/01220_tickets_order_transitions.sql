-- +goose Up
ALTER TABLE tickets.orders ADD COLUMN moves integer NOT NULL DEFAULT 0;
COMMENT ON COLUMN tickets.orders.moves IS 'How many of its moves have written their history themselves. A move that leaves it as it is has it written by the triggers orders_begin_unnoted and orders_move_unnoted.';
CREATE TABLE tickets.order_transitions (
    id bigint GENERATED ALWAYS AS IDENTITY,
    order_id platform.object_id NOT NULL,
    at timestamptz NOT NULL,
    from_state text COLLATE "C",
    to_state text NOT NULL COLLATE "C",
    reason text NOT NULL COLLATE "C",
    CONSTRAINT order_transitions_pkey PRIMARY KEY (order_id, id),
    CONSTRAINT order_transitions_from_known CHECK (from_state IN ('reserved', 'paid', 'released', 'refund_due', 'refunded', 'lost')),
    CONSTRAINT order_transitions_to_known CHECK (to_state IN ('reserved', 'paid', 'released', 'refund_due', 'refunded', 'lost')),
    CONSTRAINT order_transitions_moves CHECK (from_state IS DISTINCT FROM to_state),
    CONSTRAINT order_transitions_has_reason CHECK (reason <> '')
);
COMMENT ON TABLE tickets.order_transitions IS 'Every change of an order''s state, append-only, written by the statement that makes it. It outlives the order.';
COMMENT ON COLUMN tickets.order_transitions.id IS 'Their order; 0 of where an order from before the history stood when that began.';
COMMENT ON COLUMN tickets.order_transitions.from_state IS 'Null for the row that began the order.';
COMMENT ON COLUMN tickets.order_transitions.reason IS 'Of the action, by the table in modules/tickets/state/order.go; not_recorded: of an order from before the history, or of a statement that wrote none.';
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION tickets.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'tickets.% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION tickets.refuse_change() IS 'Keeps a history append-only, also against people at psql.';
CREATE TRIGGER order_transitions_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON tickets.order_transitions
    FOR EACH STATEMENT EXECUTE FUNCTION tickets.refuse_change();
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION tickets.note_order_move() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO tickets.order_transitions (order_id, at, from_state, to_state, reason)
    VALUES (NEW.id, NEW.updated_at, OLD.state, NEW.state, 'not_recorded');
    RETURN NULL;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION tickets.note_order_move() IS 'Keeps the history of an order unbroken where a statement moves it without: of the release before, or at psql.';
CREATE TRIGGER orders_begin_unnoted AFTER INSERT ON tickets.orders
    FOR EACH ROW WHEN (NEW.moves = 0) EXECUTE FUNCTION tickets.note_order_move();
CREATE TRIGGER orders_move_unnoted AFTER UPDATE OF state ON tickets.orders
    FOR EACH ROW WHEN (NEW.state <> OLD.state AND NEW.moves = OLD.moves) EXECUTE FUNCTION tickets.note_order_move();

-- +goose Down
DROP TRIGGER orders_move_unnoted ON tickets.orders;
DROP TRIGGER orders_begin_unnoted ON tickets.orders;
DROP FUNCTION tickets.note_order_move();
DROP TABLE tickets.order_transitions;
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION tickets.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'tickets.transitions is append-only' USING ERRCODE = 'restrict_violation';
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION tickets.refuse_change() IS 'Keeps the history append-only, also against people at psql.';
ALTER TABLE tickets.orders DROP COLUMN moves;
