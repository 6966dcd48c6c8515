-- +goose Up
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION subscriptions.has_access(customer_id platform.object_id, at timestamptz) RETURNS TABLE (has_access boolean)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT EXISTS (
        SELECT 1 FROM subscriptions.subscriptions s
        WHERE s.customer_id = $1 AND s.status = 'active' AND (s.expires_at IS NULL OR s.expires_at > $2)
        OFFSET 0) -- which holds the planner to the index of the customer, however many it expects to be asked for
$$;
-- +goose StatementEnd
ALTER FUNCTION subscriptions.absent(platform.object_id, text, text, text) ROWS 1;

-- +goose Down
ALTER FUNCTION subscriptions.absent(platform.object_id, text, text, text) ROWS 1000;
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION subscriptions.has_access(customer_id platform.object_id, at timestamptz) RETURNS TABLE (has_access boolean)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT EXISTS (
        SELECT 1 FROM subscriptions.subscriptions s
        WHERE s.customer_id = $1 AND s.status = 'active' AND (s.expires_at IS NULL OR s.expires_at > $2))
$$;
-- +goose StatementEnd
