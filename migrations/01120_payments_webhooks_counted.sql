-- +goose NO TRANSACTION

-- +goose Up
-- The total of a filter by event type, gateway or state is counted in an index of some 7 MB a million logs, since equal
-- keys stand in it once, instead of in the log. One month after the other, each in a transaction of its own, as 01052
-- does it: some three seconds a million logs, in which calls of that month wait. What a run that was cut off has built
-- is dropped with the index above it.
-- +goose StatementBegin
DO $$
BEGIN
    IF to_regclass('payments.webhook_logs_by_type') IS NOT NULL THEN
        DROP INDEX payments.webhook_logs_by_type;
    END IF;
END
$$;
-- +goose StatementEnd
CREATE INDEX webhook_logs_by_type ON ONLY payments.webhook_logs (event_type, gateway, processed, signature_valid);
-- +goose StatementBegin
DO $$
DECLARE
    month text;
BEGIN
    FOR month IN SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = 'payments.webhook_logs'::regclass ORDER BY c.relname LOOP
        -- Months begin and end meanwhile: one that ended needs none, one that began has its own.
        CONTINUE WHEN to_regclass(format('payments.%I', month)) IS NULL
            OR EXISTS (SELECT 1 FROM pg_index x JOIN pg_inherits i ON i.inhrelid = x.indexrelid
                WHERE x.indrelid = to_regclass(format('payments.%I', month)) AND i.inhparent = 'payments.webhook_logs_by_type'::regclass);
        EXECUTE format('CREATE INDEX %I ON payments.%I (event_type, gateway, processed, signature_valid)', month || '_event_type_idx', month);
        EXECUTE format('ALTER INDEX payments.webhook_logs_by_type ATTACH PARTITION payments.%I', month || '_event_type_idx');
        COMMIT;
    END LOOP;
END
$$;
-- +goose StatementEnd
COMMENT ON INDEX payments.webhook_logs_by_type IS 'What staff filter the log by, for the totals of their lists.';

-- +goose Down
DROP INDEX payments.webhook_logs_by_type;
