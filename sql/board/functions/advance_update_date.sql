CREATE OR REPLACE FUNCTION board.advance_update_date() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.register_update_date := greatest(NEW.register_update_date, OLD.register_update_date + interval '1 millisecond');
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION board.advance_update_date() IS
    'A change takes its instant before it waits for the card, so it may bring one that is older than the change it waited for. The date of a card rises with every change all the same.';
