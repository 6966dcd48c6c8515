CREATE OR REPLACE FUNCTION subscriptions.has_access(customer_id platform.object_id, at timestamptz) RETURNS TABLE (has_access boolean)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT EXISTS (
        SELECT 1 FROM subscriptions.subscriptions s
        WHERE s.customer_id = $1 AND s.status = 'active' AND (s.expires_at IS NULL OR s.expires_at > $2)
        OFFSET 0) -- which holds the planner to the index of the customer, however many it expects to be asked for
$$;
COMMENT ON FUNCTION subscriptions.has_access(platform.object_id, timestamptz) IS
    'Published: whether the customer may watch then. One row. The date is looked at itself, so that a late expiry job grants nothing.';
