-- +goose Up
ALTER TABLE accounts.users
    ADD COLUMN kept_token_id text COLLATE "C",
    ADD COLUMN kept_token_since timestamptz,
    ADD COLUMN verify_later boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN accounts.users.kept_token_id IS 'Id of the one access token that stays good although it is older than tokens_valid_after: the one that changed its owner''s password.';
COMMENT ON COLUMN accounts.users.kept_token_since IS 'The tokens_valid_after that the kept token outlives. Any later ending of tokens ends it too.';
COMMENT ON COLUMN accounts.users.verify_later IS 'Signed up with verify_email_now false: may buy before verifying, so it is not removed for being unverified.';
CREATE INDEX users_unverified ON accounts.users (created_at)
    WHERE NOT email_verified AND NOT verify_later AND user_type = 'customer' AND deleted_at IS NULL;

-- +goose Down
DROP INDEX accounts.users_unverified;
ALTER TABLE accounts.users DROP COLUMN verify_later, DROP COLUMN kept_token_since, DROP COLUMN kept_token_id;
