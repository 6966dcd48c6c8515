-- +goose Up
ALTER TABLE accounts.users ADD COLUMN unproved_signup boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN accounts.users.unproved_signup IS
    'Made by signup, and nobody has proved the address yet: a reset that does so empties what the maker wrote, who may be somebody else. A trigger clears it with the first proof.';

-- Of older accounts, those that signup made have a password and nobody's id; an address
-- that an admin has moved may have been proved before.
UPDATE accounts.users u SET unproved_signup = true
WHERE user_type = 'customer' AND NOT email_verified AND email_verified_at IS NULL AND password_hash IS NOT NULL
  AND NOT password_reset_required AND document_created_by_id IS NULL AND deleted_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM accounts.audit_log a WHERE a.record_id = u.id AND a.resource = 'customers' AND a.after ?| ARRAY['email', 'email_verified']);

-- +goose StatementBegin
CREATE FUNCTION accounts.prove_signup() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.unproved_signup := false;
    RETURN NEW;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER users_prove_signup BEFORE UPDATE OF email_verified ON accounts.users
    FOR EACH ROW WHEN (NEW.email_verified AND NEW.unproved_signup) EXECUTE FUNCTION accounts.prove_signup();

-- +goose Down
DROP TRIGGER users_prove_signup ON accounts.users;
DROP FUNCTION accounts.prove_signup();
ALTER TABLE accounts.users DROP COLUMN unproved_signup;
