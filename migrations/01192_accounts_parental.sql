-- +goose Up
ALTER TABLE accounts.users
    ADD COLUMN max_age_rating text COLLATE "C" CONSTRAINT users_max_age_rating_known CHECK (max_age_rating IN ('L', '10', '12', '14', '16', '18')),
    ADD COLUMN parental_pin_mac bytea,
    ADD CONSTRAINT users_age_limit_has_pin CHECK ((max_age_rating IS NULL) = (parental_pin_mac IS NULL));
COMMENT ON COLUMN accounts.users.max_age_rating IS 'The highest age_rating that plays without the PIN; null is no limit.';
COMMENT ON COLUMN accounts.users.parental_pin_mac IS 'HMAC of the PIN under a key of its own: four digits would be found from any hash without one.';

CREATE TABLE accounts.parental_tries (
    user_id platform.object_id NOT NULL,
    tries integer NOT NULL,
    tried_at timestamptz NOT NULL,
    CONSTRAINT parental_tries_pkey PRIMARY KEY (user_id),
    CONSTRAINT parental_tries_positive CHECK (tries >= 1)
);
COMMENT ON TABLE accounts.parental_tries IS 'Tries of a PIN in a row, each counted before it is compared; the row goes with the first that is right.';

-- +goose StatementBegin
CREATE FUNCTION accounts.max_age_rating(user_id platform.object_id) RETURNS TABLE (max_age_rating text)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT (SELECT u.max_age_rating FROM accounts.users u WHERE u.id = $1)
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION accounts.max_age_rating(platform.object_id) IS
    'Published: the highest age_rating that plays for the user without their PIN; null is no limit. One row.';

-- +goose Down
DROP FUNCTION accounts.max_age_rating(platform.object_id);
DROP TABLE accounts.parental_tries;
ALTER TABLE accounts.users DROP CONSTRAINT users_age_limit_has_pin, DROP COLUMN parental_pin_mac, DROP COLUMN max_age_rating;
