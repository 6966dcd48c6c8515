CREATE OR REPLACE FUNCTION platform.json_time(t timestamptz) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT to_char(t AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;
COMMENT ON FUNCTION platform.json_time(timestamptz) IS 'The form in which the API shows instants: RFC 3339 UTC with milliseconds and Z.';
