-- +goose NO TRANSACTION

-- +goose Up
-- How many refunds failed is among what staff look at first. Built beside what goes on; the remains of a build that was
-- cut off are cleared away first.
-- +goose StatementBegin
DO $$
BEGIN
    IF to_regclass('payments.refunds_failed') IS NOT NULL THEN
        DROP INDEX payments.refunds_failed;
    END IF;
END
$$;
-- +goose StatementEnd
CREATE INDEX CONCURRENTLY refunds_failed ON payments.refunds (requested_at) WHERE status = 'failed';

-- +goose Down
DROP INDEX payments.refunds_failed;
