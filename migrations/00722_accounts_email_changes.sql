-- +goose Up
CREATE TABLE accounts.email_changes (
    id           platform.object_id PRIMARY KEY,
    user_id      platform.object_id NOT NULL,
    old_email    text COLLATE "C" NOT NULL,
    old_username text COLLATE "C" NOT NULL,
    old_unproved boolean NOT NULL,
    new_email    text COLLATE "C" NOT NULL,
    requested_at timestamptz NOT NULL,
    changed_at   timestamptz,
    undone_at    timestamptz,
    expires_at   timestamptz NOT NULL,
    CONSTRAINT email_changes_user_exists FOREIGN KEY (user_id) REFERENCES accounts.users (id) ON DELETE CASCADE
);
COMMENT ON TABLE accounts.email_changes IS
    'Changes of an address that its owner is told of, and may undo by the link in that mail until expires_at. The link''s token is derived from the id and a server key: no row and no job holds it. Rows go with their time and with the account.';
COMMENT ON COLUMN accounts.email_changes.old_unproved IS 'users.unproved_signup before the change.';
COMMENT ON COLUMN accounts.email_changes.changed_at IS 'Null while it is asked for and not confirmed.';
COMMENT ON COLUMN accounts.email_changes.undone_at IS 'When a link was used: of this change, or of an earlier one of the same user.';
CREATE UNIQUE INDEX email_changes_one_open_per_user ON accounts.email_changes (user_id) WHERE changed_at IS NULL AND undone_at IS NULL;
CREATE INDEX email_changes_by_user ON accounts.email_changes (user_id);
CREATE INDEX email_changes_by_old_email ON accounts.email_changes (old_email) WHERE changed_at IS NOT NULL AND undone_at IS NULL;
CREATE INDEX email_changes_by_end ON accounts.email_changes (expires_at);

-- +goose StatementBegin
CREATE FUNCTION accounts.login_held(wanted text, wanted_by text) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT 1 FROM accounts.email_changes c
        WHERE c.old_email = wanted AND c.user_id <> wanted_by AND c.changed_at IS NOT NULL AND c.undone_at IS NULL AND c.expires_at > now())
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION accounts.login_held(text, text) IS 'Whether somebody else may still get this address back: until then nobody takes it, so that an undo cannot be barred.';

-- +goose StatementBegin
CREATE FUNCTION accounts.hold_login() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF accounts.login_held(NEW.login, NEW.user_id) THEN
        RAISE unique_violation USING CONSTRAINT = 'logins_of_one_user', TABLE = 'logins', SCHEMA = 'accounts',
            MESSAGE = 'a login is held for who may get it back', DETAIL = 'Key (login)=(' || NEW.login || ') already exists.';
    END IF;
    RETURN NEW;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER logins_hold BEFORE INSERT ON accounts.logins FOR EACH ROW EXECUTE FUNCTION accounts.hold_login();

-- +goose Down
DROP TRIGGER logins_hold ON accounts.logins;
DROP FUNCTION accounts.hold_login();
DROP FUNCTION accounts.login_held(text, text);
DROP TABLE accounts.email_changes;
