-- +goose Up
COMMENT ON TABLE subscriptions.subscriptions IS 'One row a request to subscribe, written before the gateway is called.';

-- +goose Down
COMMENT ON TABLE subscriptions.subscriptions IS 'One row a wish to subscribe, written before the gateway is called.';
