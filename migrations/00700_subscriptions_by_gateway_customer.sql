-- +goose Up
CREATE INDEX subscriptions_by_gateway_customer ON subscriptions.subscriptions (gateway, (coalesce(gwa_customer_id, gwb_customer_id)));
COMMENT ON INDEX subscriptions.subscriptions_by_gateway_customer IS 'Whose money it is that names no subscription.';

-- +goose Down
DROP INDEX subscriptions.subscriptions_by_gateway_customer;
