CREATE OR REPLACE FUNCTION tickets.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'tickets.transitions is append-only' USING ERRCODE = 'restrict_violation';
END
$$;
COMMENT ON FUNCTION tickets.refuse_change() IS 'Keeps the history append-only, also against people at psql.';
