CREATE OR REPLACE FUNCTION accounts.login_reserved(wanted text, wanted_by text) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT 1 FROM accounts.email_changes c
        WHERE c.old_email = wanted AND c.user_id <> wanted_by AND c.changed_at IS NOT NULL AND c.undone_at IS NULL AND c.expires_at > now())
$$;
COMMENT ON FUNCTION accounts.login_reserved(text, text) IS 'Whether somebody else may still get this address back: until then nobody takes it, so that an undo cannot be barred.';
