-- +goose NO TRANSACTION

-- +goose Up
-- Staff list who began and who ended since the first of the month. Built beside what goes on, some seconds a million
-- subscriptions; the remains of a build that was cut off are cleared away first.
-- +goose StatementBegin
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['subscriptions_by_start', 'subscriptions_by_end'] LOOP
        IF to_regclass('subscriptions.' || name) IS NOT NULL THEN
            EXECUTE format('DROP INDEX subscriptions.%I', name);
        END IF;
    END LOOP;
END
$$;
-- +goose StatementEnd
CREATE INDEX CONCURRENTLY subscriptions_by_start ON subscriptions.subscriptions (started_at) WHERE started_at IS NOT NULL;
CREATE INDEX CONCURRENTLY subscriptions_by_end ON subscriptions.subscriptions (ended_at) WHERE ended_at IS NOT NULL;

-- +goose Down
DROP INDEX subscriptions.subscriptions_by_end;
DROP INDEX subscriptions.subscriptions_by_start;
