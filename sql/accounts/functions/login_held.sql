CREATE OR REPLACE FUNCTION accounts.login_held(wanted text, wanted_by text) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT accounts.login_reserved(wanted, wanted_by)
$$;
COMMENT ON FUNCTION accounts.login_held(text, text) IS 'accounts.login_reserved by the name that the release before calls; goes with the next one.';
