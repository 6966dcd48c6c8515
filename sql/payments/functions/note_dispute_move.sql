CREATE OR REPLACE FUNCTION payments.note_dispute_move() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.state IS DISTINCT FROM (SELECT t.to_state FROM payments.dispute_transitions t WHERE t.dispute_id = NEW.id ORDER BY t.id DESC LIMIT 1) THEN
        INSERT INTO payments.dispute_transitions (dispute_id, at, from_state, to_state, action)
        VALUES (NEW.id, NEW.updated_at, OLD.state, NEW.state, 'not_recorded');
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION payments.note_dispute_move() IS 'Keeps the history of a dispute unbroken where a statement moves it without: of the release before, or at psql. What the statement itself has written it sees.';
