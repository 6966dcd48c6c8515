CREATE OR REPLACE FUNCTION payments.note_refund_move() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.status IS DISTINCT FROM (SELECT t.to_state FROM payments.refund_transitions t WHERE t.refund_id = NEW.id ORDER BY t.id DESC LIMIT 1) THEN
        INSERT INTO payments.refund_transitions (refund_id, at, from_state, to_state, action)
        VALUES (NEW.id, NEW.updated_at, OLD.status, NEW.status, 'not_recorded');
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION payments.note_refund_move() IS 'Keeps the history of a refund unbroken where a statement moves it without: of the release before, or at psql. What the statement itself has written it sees.';
