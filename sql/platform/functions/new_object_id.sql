CREATE OR REPLACE FUNCTION platform.new_object_id() RETURNS platform.object_id
LANGUAGE sql VOLATILE AS $$
    SELECT (lpad(to_hex(extract(epoch FROM clock_timestamp())::bigint), 8, '0')
         || substr(md5(random()::text || clock_timestamp()::text), 1, 10)
         || lpad(to_hex(nextval('platform.object_id_counter')), 6, '0'))::platform.object_id
$$;
COMMENT ON FUNCTION platform.new_object_id() IS 'An id for people who insert rows by hand; the server makes its own.';
