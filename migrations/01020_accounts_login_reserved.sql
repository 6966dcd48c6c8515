-- +goose Up
-- The release before calls login_held still: it stays, as the other name, for one release.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION accounts.login_reserved(wanted text, wanted_by text) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT 1 FROM accounts.email_changes c
        WHERE c.old_email = wanted AND c.user_id <> wanted_by AND c.changed_at IS NOT NULL AND c.undone_at IS NULL AND c.expires_at > now())
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION accounts.login_reserved(text, text) IS 'Whether somebody else may still get this address back: until then nobody takes it, so that an undo cannot be barred.';
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION accounts.login_held(wanted text, wanted_by text) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT accounts.login_reserved(wanted, wanted_by)
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION accounts.login_held(text, text) IS 'accounts.login_reserved by the name that the release before calls; goes with the next one.';

-- Its trigger goes on calling it: Postgres knows a trigger's function by more than its name.
ALTER FUNCTION accounts.hold_login() RENAME TO refuse_reserved_login;
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION accounts.refuse_reserved_login() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF accounts.login_reserved(NEW.login, NEW.user_id) THEN
        RAISE unique_violation USING CONSTRAINT = 'logins_of_one_user', TABLE = 'logins', SCHEMA = 'accounts',
            MESSAGE = 'a login is reserved for whoever may get it back', DETAIL = 'Key (login)=(' || NEW.login || ') already exists.';
    END IF;
    RETURN NEW;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION accounts.refuse_reserved_login() IS 'A login that somebody else may still get back is as good as taken.';

-- +goose Down
ALTER FUNCTION accounts.refuse_reserved_login() RENAME TO hold_login;
COMMENT ON FUNCTION accounts.hold_login() IS NULL;
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION accounts.hold_login() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF accounts.login_held(NEW.login, NEW.user_id) THEN
        RAISE unique_violation USING CONSTRAINT = 'logins_of_one_user', TABLE = 'logins', SCHEMA = 'accounts',
            MESSAGE = 'a login is held for who may get it back', DETAIL = 'Key (login)=(' || NEW.login || ') already exists.';
    END IF;
    RETURN NEW;
END
$$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION accounts.login_held(wanted text, wanted_by text) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT 1 FROM accounts.email_changes c
        WHERE c.old_email = wanted AND c.user_id <> wanted_by AND c.changed_at IS NOT NULL AND c.undone_at IS NULL AND c.expires_at > now())
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION accounts.login_held(text, text) IS 'Whether somebody else may still get this address back: until then nobody takes it, so that an undo cannot be barred.';
DROP FUNCTION accounts.login_reserved(text, text);
