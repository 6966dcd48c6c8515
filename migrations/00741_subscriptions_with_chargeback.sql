-- +goose Up
CREATE INDEX subscriptions_with_chargeback ON subscriptions.subscriptions (id) WHERE has_chargeback;
COMMENT ON INDEX subscriptions.subscriptions_with_chargeback IS 'For the sweep: what followed a disputed subscription by renewals';

-- +goose Down
DROP INDEX subscriptions.subscriptions_with_chargeback;
