-- +goose Up
CREATE SCHEMA accounts;
COMMENT ON SCHEMA accounts IS 'Users (admins and customers), their profiles, logins and e-mailed codes.';

-- +goose StatementBegin
CREATE FUNCTION accounts.fold(login text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT lower(normalize(login, NFKC) COLLATE "default")
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION accounts.fold(text) IS 'The form in which usernames and e-mails are compared: without case and without look-alike forms of one character.';

CREATE TABLE accounts.users (
    id                      platform.object_id PRIMARY KEY DEFAULT platform.new_object_id(),
    user_type               text COLLATE "C" NOT NULL,
    username                text COLLATE "C" NOT NULL,
    email                   text COLLATE "C" NOT NULL,
    password_hash           text COLLATE "C",
    password_reset_required boolean NOT NULL DEFAULT false,
    enable                  boolean NOT NULL DEFAULT true,
    is_root                 boolean NOT NULL DEFAULT false,
    type_user               text[] NOT NULL DEFAULT '{}',
    name                    text COLLATE "C",
    full_name               text COLLATE "C",
    tax_id                  text COLLATE "C",
    phone                   text COLLATE "C",
    nationality             text COLLATE "C" NOT NULL DEFAULT '',
    address                 jsonb,
    my_list                 text[] NOT NULL DEFAULT '{}',
    avatar_id               platform.object_id,
    language                text COLLATE "C" NOT NULL DEFAULT 'pt',
    email_verified          boolean NOT NULL DEFAULT false,
    email_verified_at       timestamptz,
    current_subscription_id platform.object_id,
    trial_used_at           timestamptz,
    promo_code_used         text COLLATE "C",
    promo_code_id           platform.object_id,
    gwa_customer_id         text COLLATE "C",
    gwb_customer_id         text COLLATE "C",
    tokens_valid_after      timestamptz,
    deleted_at              timestamptz,
    document_created_by_id  platform.object_id,
    created_at              timestamptz NOT NULL,
    updated_at              timestamptz NOT NULL,
    CONSTRAINT users_type_known CHECK (user_type IN ('admin', 'customer')),
    CONSTRAINT users_login_present CHECK (deleted_at IS NOT NULL OR (username <> '' AND email <> '')),
    CONSTRAINT users_email_lower_case CHECK (email = lower(email)),
    CONSTRAINT users_username_no_foreign_address CHECK (
        deleted_at IS NOT NULL OR position('@' IN username) = 0 OR lower(username) = email),
    CONSTRAINT users_tax_id_form CHECK (tax_id ~ '^([0-9]{11}|[0-9A-Z]{12}[0-9]{2})$'),
    CONSTRAINT users_phone_form CHECK (phone ~ '^\+?[0-9]{10,15}$'),
    CONSTRAINT users_address_is_object CHECK (jsonb_typeof(address) = 'object'),
    CONSTRAINT users_verified_has_instant CHECK (NOT email_verified OR email_verified_at IS NOT NULL),
    CONSTRAINT users_customers_hold_no_rights CHECK (user_type = 'admin' OR (NOT is_root AND type_user = '{}'))
);
COMMENT ON TABLE accounts.users IS 'Admins and customers. A deleted user stays as a tombstone, since money records point to him.';
COMMENT ON COLUMN accounts.users.password_hash IS 'PHC text of argon2id, or bcrypt for imported users until their next login. Null: no password that a person knows.';
COMMENT ON COLUMN accounts.users.type_user IS 'Ids of accounts.users_type, the profiles of an admin.';
COMMENT ON COLUMN accounts.users.name IS 'Display name of an admin.';
COMMENT ON COLUMN accounts.users.nationality IS 'ISO 3166-1, 2 or 3 letters; empty when not told.';
COMMENT ON COLUMN accounts.users.address IS 'street, number, complement, locality, city, region_code, country, postal_code: all texts.';
COMMENT ON COLUMN accounts.users.language IS 'The language of mails, as in web/mail.';
COMMENT ON COLUMN accounts.users.current_subscription_id IS 'No foreign key: subscriptions belong to an upper module.';
COMMENT ON COLUMN accounts.users.trial_used_at IS 'When the one trial of this customer began.';
COMMENT ON COLUMN accounts.users.promo_code_id IS 'The promo code given at signup. No foreign key: upper module.';
COMMENT ON COLUMN accounts.users.tokens_valid_after IS 'Tokens issued before are over.';
COMMENT ON COLUMN accounts.users.document_created_by_id IS 'The admin who made the account; null when its owner did.';
COMMENT ON COLUMN accounts.users.created_at IS 'Shown as created_at and as register_date; updated_at likewise.';

CREATE UNIQUE INDEX users_tax_id_of_one_customer ON accounts.users (tax_id)
    WHERE user_type = 'customer' AND deleted_at IS NULL AND tax_id IS NOT NULL;
CREATE INDEX users_by_type ON accounts.users (user_type, updated_at DESC, id);
CREATE INDEX users_by_current_subscription ON accounts.users (current_subscription_id) WHERE current_subscription_id IS NOT NULL;
CREATE INDEX users_by_gwa_customer ON accounts.users (gwa_customer_id) WHERE gwa_customer_id IS NOT NULL;
CREATE INDEX users_by_gwb_customer ON accounts.users (gwb_customer_id) WHERE gwb_customer_id IS NOT NULL;

CREATE TABLE accounts.logins (
    login   text COLLATE "C" NOT NULL,
    user_id platform.object_id NOT NULL,
    CONSTRAINT logins_of_one_user PRIMARY KEY (login),
    CONSTRAINT logins_user_exists FOREIGN KEY (user_id) REFERENCES accounts.users (id) ON DELETE CASCADE
);
COMMENT ON TABLE accounts.logins IS 'Every username and e-mail of the users that are not deleted, folded: one name space, so that nobody''s username is somebody else''s e-mail. Kept by a trigger of accounts.users.';
CREATE INDEX logins_by_user ON accounts.logins (user_id);

-- +goose StatementBegin
CREATE FUNCTION accounts.keep_logins() RETURNS trigger LANGUAGE plpgsql AS $$
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
-- +goose StatementEnd
CREATE TRIGGER users_keep_logins AFTER INSERT OR UPDATE OF username, email, deleted_at ON accounts.users
    FOR EACH ROW EXECUTE FUNCTION accounts.keep_logins();

-- +goose Down
DROP TABLE accounts.logins;
DROP TABLE accounts.users;
DROP FUNCTION accounts.keep_logins();
DROP FUNCTION accounts.fold(text);
DROP SCHEMA accounts;
