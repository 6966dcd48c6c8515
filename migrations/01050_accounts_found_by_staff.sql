-- +goose NO TRANSACTION

-- +goose Up
-- Staff find customers by half an e-mail or name, and what was done by the id of its request. Built beside what goes
-- on, about a minute a million customers; the remains of a build that was cut off are cleared away first.
-- +goose StatementBegin
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['users_customer_words', 'users_customer_names', 'audit_log_by_request'] LOOP
        IF to_regclass('accounts.' || name) IS NOT NULL THEN
            EXECUTE format('DROP INDEX accounts.%I', name);
        END IF;
    END LOOP;
END
$$;
-- +goose StatementEnd
CREATE INDEX CONCURRENTLY users_customer_words ON accounts.users
    USING gin (platform.search_words(coalesce(full_name, '') || ' ' || username || ' ' || email) gin_trgm_ops)
    WHERE user_type = 'customer' AND deleted_at IS NULL;
CREATE INDEX CONCURRENTLY users_customer_names ON accounts.users (platform.search_words(full_name))
    WHERE user_type = 'customer' AND deleted_at IS NULL;
CREATE INDEX CONCURRENTLY audit_log_by_request ON accounts.audit_log (request_id);

-- +goose Down
DROP INDEX accounts.audit_log_by_request;
DROP INDEX accounts.users_customer_names;
DROP INDEX accounts.users_customer_words;
