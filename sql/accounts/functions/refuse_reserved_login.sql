CREATE OR REPLACE FUNCTION accounts.refuse_reserved_login() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF accounts.login_reserved(NEW.login, NEW.user_id) THEN
        RAISE unique_violation USING CONSTRAINT = 'logins_of_one_user', TABLE = 'logins', SCHEMA = 'accounts',
            MESSAGE = 'a login is reserved for whoever may get it back', DETAIL = 'Key (login)=(' || NEW.login || ') already exists.';
    END IF;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION accounts.refuse_reserved_login() IS 'A login that somebody else may still get back is as good as taken.';
