-- +goose Up
COMMENT ON FUNCTION accounts.drop_skeletons() IS 'A name that is not the user''s any more, or of a deleted user, bars nobody from one that reads like it.';
COMMENT ON FUNCTION accounts.keep_logins() IS 'Maintains accounts.logins: every name by which a user is found, while the user is not deleted.';
COMMENT ON FUNCTION accounts.prove_signup() IS 'The first proof of the address: users.unproved_signup ends with it.';

-- +goose Down
COMMENT ON FUNCTION accounts.drop_skeletons() IS NULL;
COMMENT ON FUNCTION accounts.keep_logins() IS NULL;
COMMENT ON FUNCTION accounts.prove_signup() IS NULL;
