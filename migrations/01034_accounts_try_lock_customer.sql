-- +goose Up
-- Renewals that are told at once are applied by statements for all of them: a customer whom somebody else
-- holds is left out, and nobody waits.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION accounts.try_lock_customer(customer_id platform.object_id) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM 1 FROM accounts.users u WHERE u.id = $1 AND u.user_type = 'customer' AND u.deleted_at IS NULL FOR NO KEY UPDATE SKIP LOCKED;
    RETURN FOUND;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION accounts.try_lock_customer(platform.object_id) IS
    'Published: locks a customer until the transaction ends, and tells whether it did: not one whom somebody else holds, nor one who has deleted the account.';

-- +goose Down
DROP FUNCTION accounts.try_lock_customer(platform.object_id);
