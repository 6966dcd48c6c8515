-- +goose Up
-- +goose StatementBegin
CREATE FUNCTION accounts.hold_roots() RETURNS void
LANGUAGE sql VOLATILE AS $$
    SELECT pg_advisory_xact_lock(hashtextextended('accounts.roots', 0))
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION accounts.hold_roots() IS 'Until the transaction ends, nobody else counts the root users: without it two could each leave the other as the last one.';

ALTER TABLE accounts.users ADD CONSTRAINT users_password_is_hashed
    CHECK (password_hash ~ '^\$(argon2id|2[abxy]?)\$') NOT VALID;
ALTER TABLE accounts.users VALIDATE CONSTRAINT users_password_is_hashed;

CREATE INDEX users_by_profile ON accounts.users USING gin (type_user) WHERE user_type = 'admin' AND deleted_at IS NULL;

-- +goose Down
DROP INDEX accounts.users_by_profile;
ALTER TABLE accounts.users DROP CONSTRAINT users_password_is_hashed;
DROP FUNCTION accounts.hold_roots();
