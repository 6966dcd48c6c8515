CREATE OR REPLACE FUNCTION finance.note_customer() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    change integer := 0;
BEGIN
    IF TG_OP <> 'DELETE' AND NEW.user_type = 'customer' AND NEW.deleted_at IS NULL THEN
        change := 1;
    END IF;
    IF TG_OP <> 'INSERT' AND OLD.user_type = 'customer' AND OLD.deleted_at IS NULL THEN
        change := change - 1;
    END IF;
    IF change <> 0 THEN
        INSERT INTO finance.standing_deltas (gateway, payment_method, plan_id, customers) VALUES ('', '', '', change);
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION finance.note_customer() IS 'Counts customers that are not deleted.';
