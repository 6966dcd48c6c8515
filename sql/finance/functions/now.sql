CREATE OR REPLACE FUNCTION finance.now() RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT coalesce(nullif(current_setting('finance.now', true), '')::timestamptz, now())
$$;
COMMENT ON FUNCTION finance.now() IS 'The instant as of which expiry and age are judged: the session''s setting finance.now (the service gives its clock that way), else the transaction''s start. It moves no rows: it is no time machine.';
