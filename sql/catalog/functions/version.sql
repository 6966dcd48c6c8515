CREATE OR REPLACE FUNCTION catalog.version() RETURNS TABLE (number bigint)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT v.number FROM catalog.version v
$$;
COMMENT ON FUNCTION catalog.version() IS
    'Published: the version of the catalogue. One row. A page that was made at this version is the present one.';
