CREATE OR REPLACE FUNCTION finance.note_failure_due() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    subject text;
BEGIN
    FOR subject IN SELECT DISTINCT x.id FROM (VALUES (NEW.purpose, NEW.local_id), (OLD.purpose, OLD.local_id)) AS x (purpose, id) WHERE x.purpose = 'subscription' LOOP
        -- Whoever changes the subscription meanwhile sees the failure, or is seen here.
        PERFORM FROM subscriptions.subscriptions s WHERE s.id = subject FOR NO KEY UPDATE;
        IF FOUND THEN
            PERFORM finance.keep_due(subject);
        END IF;
    END LOOP;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION finance.note_failure_due() IS 'Keeps finance.dues when failed attempts are told of; NEW or OLD is all null where there is none. It holds the subscription''s row, as whoever records a failure does.';
