-- +goose NO TRANSACTION

-- +goose Up
-- Staff list refunds, and how many failed is among what they look at first. Built beside what goes on; the remains of a
-- build that was cut off are cleared away first.
-- +goose StatementBegin
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['refunds_by_request', 'refunds_failed'] LOOP
        IF to_regclass('payments.' || name) IS NOT NULL THEN
            EXECUTE format('DROP INDEX payments.%I', name);
        END IF;
    END LOOP;
END
$$;
-- +goose StatementEnd
CREATE INDEX CONCURRENTLY refunds_by_request ON payments.refunds (requested_at DESC, id DESC);
CREATE INDEX CONCURRENTLY refunds_failed ON payments.refunds (requested_at DESC, id DESC) WHERE status = 'failed';

-- +goose Down
DROP INDEX payments.refunds_failed;
DROP INDEX payments.refunds_by_request;
