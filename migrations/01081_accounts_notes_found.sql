-- +goose NO TRANSACTION

-- +goose Up
-- Customers by their labels, and what the audit trail says of a customer's notes, for its erasing. Built beside what goes
-- on; the remains of a build that was cut off are cleared away first.
DROP INDEX CONCURRENTLY IF EXISTS accounts.users_by_label;
CREATE INDEX CONCURRENTLY users_by_label ON accounts.users USING gin (labels);
DROP INDEX CONCURRENTLY IF EXISTS accounts.audit_log_of_notes;
CREATE INDEX CONCURRENTLY audit_log_of_notes ON accounts.audit_log ((coalesce(after, before) ->> 'customer_id'))
    WHERE resource = 'customer-notes';

-- +goose Down
DROP INDEX CONCURRENTLY accounts.audit_log_of_notes;
DROP INDEX CONCURRENTLY accounts.users_by_label;
