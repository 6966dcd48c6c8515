-- +goose NO TRANSACTION

-- +goose Up
-- Customers by their labels, and what the audit trail says of a customer's notes, for its erasing. Built beside what goes
-- on; the remains of a build that was cut off are cleared away first.
-- +goose StatementBegin
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['users_by_label', 'audit_log_of_notes'] LOOP
        IF to_regclass('accounts.' || name) IS NOT NULL THEN
            EXECUTE format('DROP INDEX accounts.%I', name);
        END IF;
    END LOOP;
END
$$;
-- +goose StatementEnd
CREATE INDEX CONCURRENTLY users_by_label ON accounts.users USING gin (labels);
CREATE INDEX CONCURRENTLY audit_log_of_notes ON accounts.audit_log ((coalesce(after, before) ->> 'customer_id'))
    WHERE resource = 'customer-notes';

-- +goose Down
DROP INDEX accounts.audit_log_of_notes;
DROP INDEX accounts.users_by_label;
