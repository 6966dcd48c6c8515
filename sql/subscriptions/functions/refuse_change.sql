CREATE OR REPLACE FUNCTION subscriptions.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'subscriptions.% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END
$$;
COMMENT ON FUNCTION subscriptions.refuse_change() IS 'Keeps a history append-only, also against people at psql.';
