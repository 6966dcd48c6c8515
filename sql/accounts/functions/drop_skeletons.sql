CREATE OR REPLACE FUNCTION accounts.drop_skeletons() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM accounts.username_skeletons WHERE user_id = NEW.id AND (username <> NEW.username OR NEW.deleted_at IS NOT NULL);
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION accounts.drop_skeletons() IS 'A name that is not the user''s any more, or of a deleted user, bars nobody from one that reads like it.';
