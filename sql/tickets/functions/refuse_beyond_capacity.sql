CREATE OR REPLACE FUNCTION tickets.refuse_beyond_capacity() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.tickets_issued > NEW.capacity THEN
        RAISE check_violation USING MESSAGE = 'no place left', CONSTRAINT = 'events_capacity_respected';
    END IF;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION tickets.refuse_beyond_capacity() IS 'No ticket beyond the capacity. A trigger and no CHECK, because the capacity itself may be lowered below what is issued.';
