CREATE OR REPLACE FUNCTION subscriptions.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'subscriptions.transitions is append-only' USING ERRCODE = 'restrict_violation';
END
$$;
COMMENT ON FUNCTION subscriptions.refuse_change() IS 'Keeps the history append-only, also against people at psql.';
