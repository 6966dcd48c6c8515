CREATE OR REPLACE FUNCTION payments.event_object(payload jsonb) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    -- No longer than an index takes.
    SELECT left(coalesce(payload #>> '{data,object,id}', payload #>> '{payment,id}', payload #>> '{subscription,id}',
        payload #>> '{authorization,id}', payload #>> '{pixAutomaticAuthorization,id}'), 200)
$$;
COMMENT ON FUNCTION payments.event_object(jsonb) IS 'The gateway''s id of what an event is about, out of its body: a payment, an invoice, a charge, a subscription, an authorization. Null when it names none.';
