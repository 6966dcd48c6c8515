-- +goose Up
ALTER TABLE subscriptions.plans
    ADD COLUMN max_streams integer CONSTRAINT plans_max_streams_range CHECK (max_streams BETWEEN 1 AND 100);
COMMENT ON COLUMN subscriptions.plans.max_streams IS 'How many devices of a subscriber may play at once; null is no limit.';

-- +goose StatementBegin
CREATE FUNCTION subscriptions.max_streams(customer_id platform.object_id, at timestamptz) RETURNS TABLE (max_streams integer)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT (SELECT p.max_streams
            FROM subscriptions.subscriptions s JOIN subscriptions.plans p ON p.plan_id = s.plan_id
            WHERE s.customer_id = $1 AND s.status = 'active' AND (s.expires_at IS NULL OR s.expires_at > $2)) -- one is live
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION subscriptions.max_streams(platform.object_id, timestamptz) IS
    'Published: on how many devices at once the customer may watch then, by the plan of what gives them access; null is no limit. One row.';

-- +goose Down
DROP FUNCTION subscriptions.max_streams(platform.object_id, timestamptz);
ALTER TABLE subscriptions.plans DROP COLUMN max_streams;
