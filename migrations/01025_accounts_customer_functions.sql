-- +goose Up
-- A renewal looks by one statement for what most subscriptions have none of.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION accounts.has_customer(customer_id platform.object_id) RETURNS TABLE (has_customer boolean)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT EXISTS (SELECT 1 FROM accounts.users u WHERE u.id = $1 AND u.user_type = 'customer' AND u.deleted_at IS NULL)
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION accounts.has_customer(platform.object_id) IS 'Published: whether there is such a customer, who has not deleted the account. One row.';

-- An event of a gateway finds its subscription, and locks the customer and then it, by one statement.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION accounts.lock_customer(customer_id platform.object_id) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM 1 FROM accounts.users u WHERE u.id = $1 AND u.user_type = 'customer' AND u.deleted_at IS NULL FOR NO KEY UPDATE;
    RETURN FOUND;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION accounts.lock_customer(platform.object_id) IS
    'Published: locks a customer until the transaction ends, and tells whether there is such a one, who has not deleted the account.';

-- +goose Down
DROP FUNCTION accounts.lock_customer(platform.object_id);
DROP FUNCTION accounts.has_customer(platform.object_id);
