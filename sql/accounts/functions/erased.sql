CREATE OR REPLACE FUNCTION accounts.erased(fields jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT coalesce(jsonb_object_agg(key, CASE WHEN jsonb_typeof(value) IN ('boolean', 'null') THEN value ELSE '"[erased]"' END), '{}')
    FROM jsonb_each(fields)
$$;
COMMENT ON FUNCTION accounts.erased(jsonb) IS 'The fields without what they held, but for yes and no.';
