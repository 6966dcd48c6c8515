CREATE OR REPLACE FUNCTION payments.event_charge(payload jsonb) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    -- No longer than an index takes.
    SELECT left(CASE WHEN payload #>> '{data,object,object}' = 'charge' THEN payload #>> '{data,object,id}'
        ELSE coalesce(payload #>> '{data,object,latest_charge}', payload #>> '{data,object,charge}') END, 200)
$$;
COMMENT ON FUNCTION payments.event_charge(jsonb) IS 'The charge (ch_…) of gateway B that an event is about or names, out of its body; null when it names none.';
