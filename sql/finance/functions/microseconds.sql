CREATE OR REPLACE FUNCTION finance.microseconds(since timestamptz, until timestamptz) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$SELECT greatest((date_part('epoch', until - since) * 1000000)::bigint, 0)$$;
COMMENT ON FUNCTION finance.microseconds(timestamptz, timestamptz) IS 'Length of a period of access, at least 0.';
