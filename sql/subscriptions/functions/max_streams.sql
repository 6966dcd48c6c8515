CREATE OR REPLACE FUNCTION subscriptions.max_streams(customer_id platform.object_id, at timestamptz) RETURNS TABLE (max_streams integer)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT (SELECT p.max_streams
            FROM subscriptions.subscriptions s JOIN subscriptions.plans p ON p.plan_id = s.plan_id
            WHERE s.customer_id = $1 AND s.status = 'active' AND (s.expires_at IS NULL OR s.expires_at > $2)) -- one is live
$$;
COMMENT ON FUNCTION subscriptions.max_streams(platform.object_id, timestamptz) IS
    'Published: on how many devices at once the customer may watch then, by the plan of what gives them access; null is no limit. One row.';
