-- +goose NO TRANSACTION

-- +goose Up
-- The oldest event that a job tries to apply, for the metrics: those that wait for a subject may be many. Built beside
-- what goes on; the remains of a build that was cut off are cleared away first.
-- +goose StatementBegin
DO $$
BEGIN
    IF to_regclass('payments.processed_events_queued') IS NOT NULL THEN
        DROP INDEX payments.processed_events_queued;
    END IF;
END
$$;
-- +goose StatementEnd
CREATE INDEX CONCURRENTLY processed_events_queued ON payments.processed_events (gateway, updated_at) WHERE state = 'queued';

-- +goose Down
DROP INDEX payments.processed_events_queued;
