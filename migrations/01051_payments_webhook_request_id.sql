-- +goose Up
-- What staff find webhook calls by: the id of their request, and what they are about. 01052 indexes both.
ALTER TABLE payments.webhook_logs ADD COLUMN request_id text;
ALTER TABLE payments.refused_webhooks ADD COLUMN request_id text;
COMMENT ON COLUMN payments.webhook_logs.request_id IS 'X-Request-Id of the call; null of what was logged by a job, or before it was kept.';
COMMENT ON COLUMN payments.refused_webhooks.request_id IS 'As in webhook_logs.';
CREATE INDEX refused_webhooks_by_request ON payments.refused_webhooks (request_id); -- of a week, and bounded by the day
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION payments.event_object(payload jsonb) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    -- No longer than an index takes.
    SELECT left(coalesce(payload #>> '{data,object,id}', payload #>> '{payment,id}', payload #>> '{subscription,id}',
        payload #>> '{authorization,id}', payload #>> '{pixAutomaticAuthorization,id}'), 200)
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION payments.event_object(jsonb) IS 'The gateway''s id of what an event is about, out of its body: a payment, an invoice, a charge, a subscription, an authorization. Null when it names none.';
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION payments.event_charge(payload jsonb) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    -- No longer than an index takes.
    SELECT left(CASE WHEN payload #>> '{data,object,object}' = 'charge' THEN payload #>> '{data,object,id}'
        ELSE coalesce(payload #>> '{data,object,latest_charge}', payload #>> '{data,object,charge}') END, 200)
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION payments.event_charge(jsonb) IS 'The charge (ch_…) of gateway B that an event is about or names, out of its body; null when it names none.';

-- +goose Down
DROP FUNCTION payments.event_charge(jsonb);
DROP FUNCTION payments.event_object(jsonb);
ALTER TABLE payments.refused_webhooks DROP COLUMN request_id;
ALTER TABLE payments.webhook_logs DROP COLUMN request_id;
