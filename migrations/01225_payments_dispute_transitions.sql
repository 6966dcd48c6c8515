-- +goose Up
CREATE TABLE payments.dispute_transitions (
    id bigint GENERATED ALWAYS AS IDENTITY,
    dispute_id platform.object_id NOT NULL,
    at timestamptz NOT NULL,
    from_state text COLLATE "C",
    to_state text NOT NULL COLLATE "C",
    action text NOT NULL COLLATE "C",
    reason text COLLATE "C",
    CONSTRAINT dispute_transitions_pkey PRIMARY KEY (dispute_id, id),
    CONSTRAINT dispute_transitions_from_known CHECK (from_state IN ('inquiry', 'open', 'won', 'lost', 'dismissed', 'withdrawn')),
    CONSTRAINT dispute_transitions_to_known CHECK (to_state IN ('inquiry', 'open', 'won', 'lost', 'dismissed', 'withdrawn')),
    CONSTRAINT dispute_transitions_moves CHECK (from_state IS DISTINCT FROM to_state),
    CONSTRAINT dispute_transitions_has_action CHECK (action <> ''),
    CONSTRAINT dispute_transitions_reason_said CHECK (reason <> '')
);
COMMENT ON TABLE payments.dispute_transitions IS 'Every change of a dispute''s state, append-only, written by the statement that makes it.';
COMMENT ON COLUMN payments.dispute_transitions.id IS 'Their order; 0 of where a dispute from before the history stood when that began.';
COMMENT ON COLUMN payments.dispute_transitions.from_state IS 'Null for the row that began the dispute.';
COMMENT ON COLUMN payments.dispute_transitions.action IS 'By the table in modules/payments/state/dispute.go; not_recorded: of a dispute from before the history, or of a statement that wrote none.';
COMMENT ON COLUMN payments.dispute_transitions.reason IS 'Of the action, by the same table, or the gateway''s word for the state; null where nothing was said.';
CREATE TRIGGER dispute_transitions_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON payments.dispute_transitions
    FOR EACH STATEMENT EXECUTE FUNCTION payments.refuse_change();
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION payments.note_dispute_move() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.state IS DISTINCT FROM (SELECT t.to_state FROM payments.dispute_transitions t WHERE t.dispute_id = NEW.id ORDER BY t.id DESC LIMIT 1) THEN
        INSERT INTO payments.dispute_transitions (dispute_id, at, from_state, to_state, action)
        VALUES (NEW.id, NEW.updated_at, OLD.state, NEW.state, 'not_recorded');
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION payments.note_dispute_move() IS 'Keeps the history of a dispute unbroken where a statement moves it without: of the release before, or at psql. What the statement itself has written it sees.';
CREATE TRIGGER disputes_begin_unnoted AFTER INSERT ON payments.disputes
    FOR EACH ROW EXECUTE FUNCTION payments.note_dispute_move();
CREATE TRIGGER disputes_move_unnoted AFTER UPDATE OF state ON payments.disputes
    FOR EACH ROW WHEN (NEW.state <> OLD.state) EXECUTE FUNCTION payments.note_dispute_move();

-- +goose Down
DROP TRIGGER disputes_move_unnoted ON payments.disputes;
DROP TRIGGER disputes_begin_unnoted ON payments.disputes;
DROP FUNCTION payments.note_dispute_move();
DROP TABLE payments.dispute_transitions;
