-- +goose Up

-- Admins are few, and users_by_type finds them: whether one carries a profile is asked when that is deleted alone.
DROP INDEX accounts.users_by_profile;

-- +goose Down

CREATE INDEX users_by_profile ON accounts.users USING gin (type_user) WHERE user_type = 'admin' AND deleted_at IS NULL;
