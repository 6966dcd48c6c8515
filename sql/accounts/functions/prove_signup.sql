CREATE OR REPLACE FUNCTION accounts.prove_signup() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.unproved_signup := false;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION accounts.prove_signup() IS 'The first proof of the address: users.unproved_signup ends with it.';
