CREATE OR REPLACE FUNCTION tickets.held_by(event text, customers text[], tax_ids bytea[], emails bytea[], addresses bytea[]) RETURNS integer[] LANGUAGE sql VOLATILE AS $$
    SELECT tickets.places_taken(event, customers, tax_ids, emails, addresses)
$$;
COMMENT ON FUNCTION tickets.held_by(text, text[], bytea[], bytea[], bytea[]) IS 'tickets.places_taken by the name that the release before calls; goes with the next one.';
