-- +goose Up
-- Admins look for an event by its id alone, and for what is not processed.
DROP INDEX payments.webhook_logs_by_event;
CREATE INDEX webhook_logs_by_event ON payments.webhook_logs (event_id, gateway);
CREATE INDEX webhook_logs_unprocessed ON payments.webhook_logs (received_at DESC, id DESC) WHERE NOT processed;
COMMENT ON INDEX payments.webhook_logs_unprocessed IS 'Bad signatures, and events whose applying failed: few, so that it costs the calls nothing.';

-- +goose Down
DROP INDEX payments.webhook_logs_unprocessed;
DROP INDEX payments.webhook_logs_by_event;
CREATE INDEX webhook_logs_by_event ON payments.webhook_logs (gateway, event_id);
