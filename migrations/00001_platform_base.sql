-- +goose Up
CREATE SCHEMA platform;
COMMENT ON SCHEMA platform IS 'What every module shares: the id domain and small functions. No tables.';

CREATE DOMAIN platform.object_id AS text COLLATE "C"
    CONSTRAINT object_id_form CHECK (VALUE ~ '^[0-9a-f]{24}$');
COMMENT ON DOMAIN platform.object_id IS '24 lower-case hex digits: 4 bytes of unix seconds, 5 random bytes, 3 bytes of a counter.';

CREATE SEQUENCE platform.object_id_counter AS integer MINVALUE 0 MAXVALUE 16777215 START 0 CYCLE;

-- +goose StatementBegin
CREATE FUNCTION platform.new_object_id() RETURNS platform.object_id
LANGUAGE sql VOLATILE AS $$
    SELECT (lpad(to_hex(extract(epoch FROM clock_timestamp())::bigint), 8, '0')
         || substr(md5(random()::text || clock_timestamp()::text), 1, 10)
         || lpad(to_hex(nextval('platform.object_id_counter')), 6, '0'))::platform.object_id
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION platform.new_object_id() IS 'An id for people who insert rows by hand; the server makes its own.';

-- +goose StatementBegin
CREATE FUNCTION platform.json_time(t timestamptz) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT to_char(t AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION platform.json_time(timestamptz) IS 'The form in which the API shows instants: RFC 3339 UTC with milliseconds and Z.';

-- +goose Down
DROP FUNCTION platform.json_time(timestamptz);
DROP FUNCTION platform.new_object_id();
DROP SEQUENCE platform.object_id_counter;
DROP DOMAIN platform.object_id;
DROP SCHEMA platform;
