-- +goose Up
CREATE SCHEMA accounts;
COMMENT ON SCHEMA accounts IS 'Users (admins and customers), their profiles, logins and e-mailed codes.';

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION accounts.fold(login text) RETURNS text
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
    kept_token_id           text COLLATE "C",
    kept_token_since        timestamptz,
    verify_later            boolean NOT NULL DEFAULT false,
    unproved_signup         boolean NOT NULL DEFAULT false,
    CONSTRAINT users_type_known CHECK (user_type IN ('admin', 'customer')),
    CONSTRAINT users_login_present CHECK (deleted_at IS NOT NULL OR (username <> '' AND email <> '')),
    CONSTRAINT users_email_lower_case CHECK (email = lower(email)),
    CONSTRAINT users_username_no_foreign_address CHECK (
        deleted_at IS NOT NULL OR position('@' IN username) = 0 OR lower(username) = email),
    CONSTRAINT users_tax_id_form CHECK (tax_id ~ '^([0-9]{11}|[0-9A-Z]{12}[0-9]{2})$'),
    CONSTRAINT users_phone_form CHECK (phone ~ '^\+?[0-9]{10,15}$'),
    CONSTRAINT users_address_is_object CHECK (jsonb_typeof(address) = 'object'),
    CONSTRAINT users_verified_has_instant CHECK (NOT email_verified OR email_verified_at IS NOT NULL),
    CONSTRAINT users_customers_hold_no_rights CHECK (user_type = 'admin' OR (NOT is_root AND type_user = '{}')),
    CONSTRAINT users_password_is_hashed CHECK (password_hash ~ '^\$(argon2id|2[abxy]?)\$')
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
COMMENT ON COLUMN accounts.users.kept_token_id IS 'Id of the one access token that stays good although it is older than tokens_valid_after: the one that changed its owner''s password.';
COMMENT ON COLUMN accounts.users.kept_token_since IS 'The tokens_valid_after that the kept token outlives. Any later ending of tokens ends it too.';
COMMENT ON COLUMN accounts.users.verify_later IS 'Signed up with verify_email_now false: may buy before verifying, so it is not removed for being unverified.';
COMMENT ON COLUMN accounts.users.unproved_signup IS
    'Made by signup, and nobody has proved the address yet: a reset that does so empties what the maker wrote, who may be somebody else. A trigger clears it with the first proof.';
CREATE UNIQUE INDEX users_tax_id_of_one_customer ON accounts.users (tax_id)
    WHERE user_type = 'customer' AND deleted_at IS NULL AND tax_id IS NOT NULL;
CREATE INDEX users_by_type ON accounts.users (user_type, updated_at DESC, id);
CREATE INDEX users_by_current_subscription ON accounts.users (current_subscription_id) WHERE current_subscription_id IS NOT NULL;
CREATE INDEX users_by_gwa_customer ON accounts.users (gwa_customer_id) WHERE gwa_customer_id IS NOT NULL;
CREATE INDEX users_by_gwb_customer ON accounts.users (gwb_customer_id) WHERE gwb_customer_id IS NOT NULL;
CREATE INDEX users_unverified ON accounts.users (created_at)
    WHERE NOT email_verified AND NOT verify_later AND user_type = 'customer' AND deleted_at IS NULL;
CREATE INDEX users_by_profile ON accounts.users USING gin (type_user) WHERE user_type = 'admin' AND deleted_at IS NULL;
CREATE INDEX users_search ON accounts.users USING gin ((
    platform.search_vector(ARRAY[full_name, name], 'A')
    || platform.search_vector(ARRAY[username, email, tax_id, phone], 'B')
)) WHERE deleted_at IS NULL;
COMMENT ON INDEX accounts.users_search IS 'What GET /search/users and /search/customers find people by: names before logins and numbers. An index alone, so that nothing of it outlives the row.';
CREATE INDEX users_customers_by_creation ON accounts.users (created_at, id) WHERE user_type = 'customer' AND deleted_at IS NULL;
COMMENT ON INDEX accounts.users_customers_by_creation IS 'Customers in the order of their export.';

CREATE TABLE accounts.logins (
    login   text COLLATE "C" NOT NULL,
    user_id platform.object_id NOT NULL,
    CONSTRAINT logins_of_one_user PRIMARY KEY (login),
    CONSTRAINT logins_user_exists FOREIGN KEY (user_id) REFERENCES accounts.users (id) ON DELETE CASCADE
);
COMMENT ON TABLE accounts.logins IS 'Every username and e-mail of the users that are not deleted, folded: one name space, so that nobody''s username is somebody else''s e-mail. Kept by a trigger of accounts.users.';
CREATE INDEX logins_by_user ON accounts.logins (user_id);

-- Keeps accounts.logins: every name by which a user is found, while the user is not deleted.
-- +goose StatementBegin
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
-- +goose StatementEnd
CREATE TRIGGER users_keep_logins AFTER INSERT OR UPDATE OF username, email, deleted_at ON accounts.users
    FOR EACH ROW EXECUTE FUNCTION accounts.keep_logins();

CREATE TABLE accounts.users_type (
    id                     platform.object_id PRIMARY KEY DEFAULT platform.new_object_id(),
    name                   text COLLATE "C" NOT NULL,
    view                   text[] NOT NULL DEFAULT '{}',
    "create"               text[] NOT NULL DEFAULT '{}',
    "update"               text[] NOT NULL DEFAULT '{}',
    "delete"               text[] NOT NULL DEFAULT '{}',
    document_created_by_id platform.object_id,
    created_at             timestamptz NOT NULL,
    updated_at             timestamptz NOT NULL,
    CONSTRAINT users_type_name_unique UNIQUE (name),
    CONSTRAINT users_type_name_length CHECK (length(name) BETWEEN 1 AND 100)
);
COMMENT ON TABLE accounts.users_type IS 'Profiles: lists of handler names that an admin who carries the profile may call.';
COMMENT ON COLUMN accounts.users_type.view IS 'Handler names. Which of the four lists holds a name is for people; any of them permits it.';

INSERT INTO accounts.users_type (id, name, view, "create", "update", "delete", created_at, updated_at)
VALUES ('000000000000000000000001', 'Requisitions',
    '{requisition_get,requisition_status_get,requisition_file_download}',
    '{requisition_post,requisition_status_post,requisition_file_upload}',
    '{requisition_put,requisition_status_put}',
    '{requisition_delete,requisition_status_delete,requisition_file_delete}',
    date_trunc('milliseconds', now()), date_trunc('milliseconds', now()));

CREATE TABLE accounts.codes (
    id         platform.object_id PRIMARY KEY,
    user_id    platform.object_id NOT NULL,
    purpose    text COLLATE "C" NOT NULL,
    address    text COLLATE "C" NOT NULL,
    code_mac   bytea NOT NULL,
    attempts   integer NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    CONSTRAINT codes_one_per_purpose UNIQUE (user_id, purpose),
    CONSTRAINT codes_user_exists FOREIGN KEY (user_id) REFERENCES accounts.users (id) ON DELETE CASCADE,
    CONSTRAINT codes_purpose_known CHECK (purpose IN ('verification', 'reset', 'email_change')),
    CONSTRAINT codes_attempts_not_negative CHECK (attempts >= 0)
);
COMMENT ON TABLE accounts.codes IS 'The live 6-digit code of a user and purpose; a new one overwrites the old. The digits stand nowhere: they are an HMAC of the id under a server key.';
COMMENT ON COLUMN accounts.codes.address IS 'Where the code is mailed; for email_change the new address.';
COMMENT ON COLUMN accounts.codes.code_mac IS 'HMAC-SHA-256 of id and digits under another server key: the plain hash of six digits is reversed at once.';
COMMENT ON COLUMN accounts.codes.attempts IS 'Codes tried, right or wrong.';
CREATE INDEX codes_by_expiry ON accounts.codes (expires_at);

CREATE TABLE accounts.code_requests (
    address_mac  bytea NOT NULL,
    purpose      text COLLATE "C" NOT NULL,
    requested_at timestamptz NOT NULL,
    CONSTRAINT code_requests_one_per_address PRIMARY KEY (address_mac, purpose)
);
COMMENT ON TABLE accounts.code_requests IS 'When an address last asked for a code, whether or not it has an account: the cooldown must not tell which. Old rows are swept.';
COMMENT ON COLUMN accounts.code_requests.address_mac IS 'HMAC-SHA-256 of the folded address: strangers'' addresses are not kept.';
CREATE INDEX code_requests_by_age ON accounts.code_requests (requested_at);

CREATE TABLE accounts.throttles (
    subject_mac bytea PRIMARY KEY,
    scope       text COLLATE "C" NOT NULL,
    failures    integer NOT NULL,
    failed_at   timestamptz NOT NULL,
    CONSTRAINT throttles_failures_positive CHECK (failures > 0)
);
COMMENT ON TABLE accounts.throttles IS 'Failed logins and wrong codes by account and by client address, from which the wait before the next attempt follows. A success or a quiet time removes a row.';
COMMENT ON COLUMN accounts.throttles.subject_mac IS 'HMAC-SHA-256 of scope and subject: neither addresses nor mistyped logins are kept.';
COMMENT ON COLUMN accounts.throttles.failures IS 'In a row, without a quiet time between them.';
CREATE INDEX throttles_by_age ON accounts.throttles (failed_at);

CREATE TABLE accounts.quotas (
    subject_mac  bytea NOT NULL,
    window_start timestamptz NOT NULL,
    used         integer NOT NULL,
    CONSTRAINT quotas_one_per_window PRIMARY KEY (subject_mac, window_start),
    CONSTRAINT quotas_used_positive CHECK (used > 0)
);
COMMENT ON TABLE accounts.quotas IS 'What was used of a bounded number a window of time: code mails a day and recipient, questions to gateways a minute. Old windows are swept.';
COMMENT ON COLUMN accounts.quotas.subject_mac IS 'HMAC-SHA-256 of the kind and whom it concerns.';
CREATE INDEX quotas_by_age ON accounts.quotas (window_start);

CREATE TABLE accounts.deletions (
    customer_id platform.object_id PRIMARY KEY,
    deleted_by  platform.object_id,
    deleted_at  timestamptz NOT NULL,
    erased_at   timestamptz,
    CONSTRAINT deletions_customer_exists FOREIGN KEY (customer_id) REFERENCES accounts.users (id)
);
COMMENT ON TABLE accounts.deletions IS 'Customers who were deleted: closed at once, erased when the gateways have confirmed that nothing is charged any more.';
COMMENT ON COLUMN accounts.deletions.deleted_by IS 'The customer himself or an admin; null for the job that removes unverified accounts.';
COMMENT ON COLUMN accounts.deletions.erased_at IS 'When his personal data were removed; null while a gateway still has to confirm.';
CREATE INDEX deletions_under_way ON accounts.deletions (deleted_at) WHERE erased_at IS NULL;

CREATE TABLE accounts.audit_log (
    id         platform.object_id PRIMARY KEY,
    at         timestamptz NOT NULL,
    actor_id   platform.object_id,
    actor_name text COLLATE "C" NOT NULL,
    action     text COLLATE "C" NOT NULL,
    path       text COLLATE "C" NOT NULL,
    resource   text COLLATE "C" NOT NULL,
    record_id  platform.object_id,
    before     jsonb,
    after      jsonb,
    request_id text COLLATE "C" NOT NULL,
    erased_at  timestamptz,
    CONSTRAINT audit_log_action_present CHECK (action <> '' AND resource <> ''),
    CONSTRAINT audit_log_before_is_object CHECK (jsonb_typeof(before) = 'object'),
    CONSTRAINT audit_log_after_is_object CHECK (jsonb_typeof(after) = 'object')
);
COMMENT ON TABLE accounts.audit_log IS 'What admins changed, append-only: who, by which route, which record, and its fields before and after.';
COMMENT ON COLUMN accounts.audit_log.actor_id IS 'No foreign key: the trail outlives users. Null: the service itself.';
COMMENT ON COLUMN accounts.audit_log.actor_name IS 'Username at that time.';
COMMENT ON COLUMN accounts.audit_log.action IS 'Handler name, as in GET /routes.';
COMMENT ON COLUMN accounts.audit_log.resource IS 'Collection as in its path, such as users.';
COMMENT ON COLUMN accounts.audit_log.before IS 'Null for a record that was made. Of a change, only the fields that differ; secrets never.';
COMMENT ON COLUMN accounts.audit_log.after IS 'Null for a record that was deleted.';
COMMENT ON COLUMN accounts.audit_log.erased_at IS 'When the values were taken out, because the person they speak of was deleted.';
CREATE INDEX audit_log_by_instant ON accounts.audit_log (at DESC, id);
CREATE INDEX audit_log_by_record ON accounts.audit_log (record_id, at DESC, id);
CREATE INDEX audit_log_by_actor ON accounts.audit_log (actor_id, at DESC, id);
CREATE INDEX audit_log_plan_moves ON accounts.audit_log (record_id, at, id)
    WHERE resource = 'subscriptions' AND before ? 'plan_id' AND after ? 'plan_id' AND erased_at IS NULL;
COMMENT ON INDEX accounts.audit_log_plan_moves IS 'The few entries by which an admin moved a subscription to another plan: finance.plan_moves.';

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION accounts.erased(fields jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT coalesce(jsonb_object_agg(key, CASE WHEN jsonb_typeof(value) IN ('boolean', 'null') THEN value ELSE '"[erased]"' END), '{}')
    FROM jsonb_each(fields)
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION accounts.erased(jsonb) IS 'The fields without what they held, but for yes and no.';

-- +goose StatementBegin
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
-- +goose StatementEnd
COMMENT ON FUNCTION accounts.keep_audit_log() IS 'Keeps the trail append-only, also against people at psql; erasing the values of a deleted person is the one change.';
CREATE TRIGGER audit_log_rows_stay BEFORE UPDATE OR DELETE ON accounts.audit_log
    FOR EACH ROW EXECUTE FUNCTION accounts.keep_audit_log();
CREATE TRIGGER audit_log_stays BEFORE TRUNCATE ON accounts.audit_log
    FOR EACH STATEMENT EXECUTE FUNCTION accounts.keep_audit_log();

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION accounts.hold_roots() RETURNS void
LANGUAGE sql VOLATILE AS $$
    SELECT pg_advisory_xact_lock(hashtextextended('accounts.roots', 0))
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION accounts.hold_roots() IS 'Until the transaction ends, nobody else counts the root users: without it two could each leave the other as the last one.';

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION accounts.rights_of(profiles text[]) RETURNS text[]
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT ARRAY(
        SELECT DISTINCT h FROM accounts.users_type p
        CROSS JOIN LATERAL (
            SELECT unnest(p.view), '_(get|download)$'
            UNION ALL SELECT unnest(p."create"), '_(post|upload)$'
            UNION ALL SELECT unnest(p."update"), '_put$'
            UNION ALL SELECT unnest(p."delete"), '_delete$'
        ) listed (h, own)
        WHERE p.id = ANY (profiles) AND h ~ own)
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION accounts.rights_of(text[]) IS
    'The handler names that an admin with these profiles may call. A name counts only in its own list, which its ending tells: requisition_post under view grants nothing.';

CREATE TABLE accounts.username_skeletons (
    user_id  platform.object_id NOT NULL,
    skeleton text COLLATE "C" NOT NULL,
    username text COLLATE "C" NOT NULL,
    shared   boolean NOT NULL,
    CONSTRAINT username_skeletons_once_per_user PRIMARY KEY (user_id, skeleton),
    CONSTRAINT username_skeletons_user_exists FOREIGN KEY (user_id) REFERENCES accounts.users (id)
        ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED
);
COMMENT ON TABLE accounts.username_skeletons IS
    'What usernames look like (UTS 39 skeletons, without case), so that nobody takes a name that reads like somebody else''s. Usernames that are the user''s own e-mail have none. A job fills what is missing; a trigger removes what no longer holds.';
COMMENT ON COLUMN accounts.username_skeletons.username IS 'The name that looks so: taken before it is written to the user.';
COMMENT ON COLUMN accounts.username_skeletons.shared IS 'Two users had names that read alike before such names were refused: both keep them.';
CREATE UNIQUE INDEX username_skeletons_of_one_user ON accounts.username_skeletons (skeleton) WHERE NOT shared;
CREATE INDEX username_skeletons_by_skeleton ON accounts.username_skeletons (skeleton);

-- A name that is not the user's any more, or of a deleted user, bars nobody from one that reads like it.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION accounts.drop_skeletons() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM accounts.username_skeletons WHERE user_id = NEW.id AND (username <> NEW.username OR NEW.deleted_at IS NOT NULL);
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER users_drop_skeletons AFTER UPDATE OF username, deleted_at ON accounts.users
    FOR EACH ROW WHEN (OLD.username <> NEW.username OR NEW.deleted_at IS NOT NULL) EXECUTE FUNCTION accounts.drop_skeletons();

-- The first proof of the address: users.unproved_signup ends with it.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION accounts.prove_signup() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.unproved_signup := false;
    RETURN NEW;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER users_prove_signup BEFORE UPDATE OF email_verified ON accounts.users
    FOR EACH ROW WHEN (NEW.email_verified AND NEW.unproved_signup) EXECUTE FUNCTION accounts.prove_signup();

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
CREATE OR REPLACE FUNCTION accounts.login_held(wanted text, wanted_by text) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT 1 FROM accounts.email_changes c
        WHERE c.old_email = wanted AND c.user_id <> wanted_by AND c.changed_at IS NOT NULL AND c.undone_at IS NULL AND c.expires_at > now())
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION accounts.login_held(text, text) IS 'Whether somebody else may still get this address back: until then nobody takes it, so that an undo cannot be barred.';

-- A login that somebody else may still get back is as good as taken.
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
CREATE TRIGGER logins_hold BEFORE INSERT ON accounts.logins FOR EACH ROW EXECUTE FUNCTION accounts.hold_login();

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION accounts.caller(user_id platform.object_id, issued_at timestamptz, token_id text)
    RETURNS TABLE (username text, user_type text, is_root boolean, profiles text[], handlers text[])
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT u.username, u.user_type, u.is_root, u.type_user,
           CASE WHEN u.type_user = '{}' THEN '{}' ELSE accounts.rights_of(u.type_user) END
    FROM accounts.users u
    WHERE u.id = $1 AND u.enable AND u.deleted_at IS NULL
      AND (u.tokens_valid_after IS NULL OR $2 >= u.tokens_valid_after
           OR (u.kept_token_id = $3 AND u.kept_token_since = u.tokens_valid_after))
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION accounts.caller(platform.object_id, timestamptz, text) IS
    'Published: the user behind a token, live, with the handler names that their profiles hold. No row when they are deleted or disabled, or when tokens of that age were ended. token_id is empty for archive tokens.';

-- +goose Down
DROP SCHEMA accounts CASCADE;
