CREATE OR REPLACE FUNCTION catalog.advance_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE catalog.version SET number = number + 1, changed_in = pg_current_xact_id()
    WHERE changed_in IS DISTINCT FROM pg_current_xact_id();
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION catalog.advance_version() IS
    'Runs before each writing statement, whoever sends it. The row lock it takes lets one transaction at a time write to the catalogue, so computed names and checks of what is in use cannot race.';
