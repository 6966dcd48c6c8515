CREATE OR REPLACE FUNCTION accounts.keep_audit_log() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        IF OLD.erased_at IS NULL AND NEW.erased_at IS NOT NULL
           AND to_jsonb(NEW) - 'erased_at' = (to_jsonb(OLD) - 'erased_at') ||
               jsonb_build_object('before', accounts.erased(OLD.before), 'after', accounts.erased(OLD.after))
        THEN
            RETURN NEW;
        END IF;
    END IF;
    RAISE EXCEPTION 'accounts.audit_log is append-only' USING ERRCODE = 'restrict_violation';
END
$$;
COMMENT ON FUNCTION accounts.keep_audit_log() IS 'Keeps the trail append-only, also against people at psql; erasing the values of a deleted person is the one change.';
