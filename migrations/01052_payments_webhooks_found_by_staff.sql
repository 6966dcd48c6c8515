-- +goose NO TRANSACTION

-- +goose Up
-- One month of the log after the other, each in a transaction of its own, so that calls wait for that of the present
-- month alone: some ten seconds a million logs, and what is not answered is sent again. What a run that was cut off has
-- built is dropped with the index above it.
-- +goose StatementBegin
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['webhook_logs_by_request', 'webhook_logs_by_object', 'webhook_logs_by_charge'] LOOP
        IF to_regclass('payments.' || name) IS NOT NULL THEN
            EXECUTE format('DROP INDEX payments.%I', name);
        END IF;
    END LOOP;
END
$$;
-- +goose StatementEnd
CREATE INDEX webhook_logs_by_request ON ONLY payments.webhook_logs (request_id) WHERE request_id IS NOT NULL;
CREATE INDEX webhook_logs_by_object ON ONLY payments.webhook_logs (payments.event_object(payload));
CREATE INDEX webhook_logs_by_charge ON ONLY payments.webhook_logs (payments.event_charge(payload))
    WHERE payments.event_charge(payload) IS NOT NULL;
-- +goose StatementBegin
DO $$
DECLARE
    month text;
    form  text[];
BEGIN
    FOR month IN SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = 'payments.webhook_logs'::regclass ORDER BY c.relname LOOP
        FOREACH form SLICE 1 IN ARRAY ARRAY[
            ['by_request', 'request_id', '(request_id) WHERE request_id IS NOT NULL'],
            ['by_object', 'event_object', '(payments.event_object(payload))'],
            ['by_charge', 'event_charge', '(payments.event_charge(payload)) WHERE payments.event_charge(payload) IS NOT NULL']
        ] LOOP
            -- Months begin and end meanwhile: one that ended needs none, one that began has its own.
            CONTINUE WHEN to_regclass(format('payments.%I', month)) IS NULL
                OR to_regclass(format('payments.%I', month || '_' || form[2] || '_idx')) IS NOT NULL;
            EXECUTE format('CREATE INDEX %I ON payments.%I %s', month || '_' || form[2] || '_idx', month, form[3]);
            EXECUTE format('ALTER INDEX payments.webhook_logs_%s ATTACH PARTITION payments.%I', form[1], month || '_' || form[2] || '_idx');
            COMMIT;
        END LOOP;
    END LOOP;
END
$$;
-- +goose StatementEnd

-- +goose Down
DROP INDEX payments.webhook_logs_by_charge;
DROP INDEX payments.webhook_logs_by_object;
DROP INDEX payments.webhook_logs_by_request;
