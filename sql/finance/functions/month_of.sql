CREATE OR REPLACE FUNCTION finance.month_of(at timestamptz, zone text) RETURNS date
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$SELECT date_trunc('month', at AT TIME ZONE zone)::date$$;
COMMENT ON FUNCTION finance.month_of(timestamptz, text) IS 'First day of the month in which an instant lies, in a time zone.';
