-- +goose Up
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

-- +goose StatementBegin
CREATE FUNCTION accounts.drop_skeletons() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM accounts.username_skeletons WHERE user_id = NEW.id AND (username <> NEW.username OR NEW.deleted_at IS NOT NULL);
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER users_drop_skeletons AFTER UPDATE OF username, deleted_at ON accounts.users
    FOR EACH ROW WHEN (OLD.username <> NEW.username OR NEW.deleted_at IS NOT NULL) EXECUTE FUNCTION accounts.drop_skeletons();

-- +goose Down
DROP TRIGGER users_drop_skeletons ON accounts.users;
DROP FUNCTION accounts.drop_skeletons();
DROP TABLE accounts.username_skeletons;
