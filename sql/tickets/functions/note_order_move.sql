CREATE OR REPLACE FUNCTION tickets.note_order_move() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO tickets.order_transitions (order_id, at, from_state, to_state, reason)
    VALUES (NEW.id, NEW.updated_at, OLD.state, NEW.state, 'not_recorded');
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION tickets.note_order_move() IS 'Keeps the history of an order unbroken where a statement moves it without: of the release before, or at psql.';
