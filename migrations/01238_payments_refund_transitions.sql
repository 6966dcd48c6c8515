-- +goose Up
CREATE TABLE payments.refund_transitions (
    id bigint GENERATED ALWAYS AS IDENTITY,
    refund_id platform.object_id NOT NULL,
    at timestamptz NOT NULL,
    from_state text COLLATE "C",
    to_state text NOT NULL COLLATE "C",
    action text NOT NULL COLLATE "C",
    reason text COLLATE "C",
    CONSTRAINT refund_transitions_pkey PRIMARY KEY (refund_id, id),
    CONSTRAINT refund_transitions_from_known CHECK (from_state IN ('requested', 'pending', 'done', 'failed')),
    CONSTRAINT refund_transitions_to_known CHECK (to_state IN ('requested', 'pending', 'done', 'failed')),
    CONSTRAINT refund_transitions_moves CHECK (from_state IS DISTINCT FROM to_state),
    CONSTRAINT refund_transitions_has_action CHECK (action <> ''),
    CONSTRAINT refund_transitions_reason_said CHECK (reason <> '')
);
COMMENT ON TABLE payments.refund_transitions IS 'Every change of a refund''s status, append-only, written by the statement that makes it.';
COMMENT ON COLUMN payments.refund_transitions.id IS 'Their order; 0 of where a refund from before the history stood when that began.';
COMMENT ON COLUMN payments.refund_transitions.from_state IS 'Null for the row that began the refund.';
COMMENT ON COLUMN payments.refund_transitions.action IS 'By the table in modules/payments/state/refund.go; not_recorded: of a refund from before the history, or of a statement that wrote none.';
COMMENT ON COLUMN payments.refund_transitions.reason IS 'Of the action, by the same table, or the gateway''s word for a refusal; null where nothing was said.';
CREATE TRIGGER refund_transitions_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON payments.refund_transitions
    FOR EACH STATEMENT EXECUTE FUNCTION payments.refuse_change();
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION payments.note_refund_move() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.status IS DISTINCT FROM (SELECT t.to_state FROM payments.refund_transitions t WHERE t.refund_id = NEW.id ORDER BY t.id DESC LIMIT 1) THEN
        INSERT INTO payments.refund_transitions (refund_id, at, from_state, to_state, action)
        VALUES (NEW.id, NEW.updated_at, OLD.status, NEW.status, 'not_recorded');
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION payments.note_refund_move() IS 'Keeps the history of a refund unbroken where a statement moves it without: of the release before, or at psql. What the statement itself has written it sees.';
CREATE TRIGGER refunds_begin_unnoted AFTER INSERT ON payments.refunds
    FOR EACH ROW EXECUTE FUNCTION payments.note_refund_move();
CREATE TRIGGER refunds_move_unnoted AFTER UPDATE OF status ON payments.refunds
    FOR EACH ROW WHEN (NEW.status <> OLD.status) EXECUTE FUNCTION payments.note_refund_move();

-- +goose Down
DROP TRIGGER refunds_move_unnoted ON payments.refunds;
DROP TRIGGER refunds_begin_unnoted ON payments.refunds;
DROP FUNCTION payments.note_refund_move();
DROP TABLE payments.refund_transitions;
