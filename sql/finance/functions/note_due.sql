CREATE OR REPLACE FUNCTION finance.note_due() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM finance.keep_due(coalesce(NEW.id, OLD.id));
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION finance.note_due() IS 'Keeps finance.dues when subscriptions change.';
