CREATE OR REPLACE FUNCTION finance.note_failed_attempt() RETURNS trigger LANGUAGE plpgsql AS $$
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
COMMENT ON FUNCTION finance.note_failed_attempt() IS 'Writes what a change of payments.failed_attempts means for the figures by day.';
