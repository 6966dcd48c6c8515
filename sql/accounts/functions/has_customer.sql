CREATE OR REPLACE FUNCTION accounts.has_customer(customer_id platform.object_id) RETURNS TABLE (has_customer boolean)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT EXISTS (SELECT 1 FROM accounts.users u WHERE u.id = $1 AND u.user_type = 'customer' AND u.deleted_at IS NULL)
$$;
COMMENT ON FUNCTION accounts.has_customer(platform.object_id) IS 'Published: whether there is such a customer, who has not deleted the account. One row.';
