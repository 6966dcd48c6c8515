CREATE OR REPLACE FUNCTION accounts.keep_logins() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM accounts.logins
    WHERE user_id = NEW.id
      AND (NEW.deleted_at IS NOT NULL OR login NOT IN (accounts.fold(NEW.username), accounts.fold(NEW.email)));
    IF NEW.deleted_at IS NULL THEN
        INSERT INTO accounts.logins (login, user_id)
        SELECT DISTINCT l, NEW.id FROM unnest(ARRAY[accounts.fold(NEW.username), accounts.fold(NEW.email)]) l
        WHERE NOT EXISTS (SELECT 1 FROM accounts.logins own WHERE own.login = l AND own.user_id = NEW.id);
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION accounts.keep_logins() IS 'Maintains accounts.logins: every name by which a user is found, while the user is not deleted.';
