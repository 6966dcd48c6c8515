CREATE OR REPLACE FUNCTION accounts.lock_customer(customer_id platform.object_id) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM 1 FROM accounts.users u WHERE u.id = $1 AND u.user_type = 'customer' AND u.deleted_at IS NULL FOR NO KEY UPDATE;
    RETURN FOUND;
END
$$;
COMMENT ON FUNCTION accounts.lock_customer(platform.object_id) IS
    'Published: locks a customer until the transaction ends, and tells whether there is such a one, who has not deleted the account.';
