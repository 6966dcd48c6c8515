-- +goose Up
COMMENT ON COLUMN subscriptions.renewal_charges.look_at IS 'Read by the release before payments.intents had the looks; goes with the next one. Lies ahead while the order has an intent.';
COMMENT ON COLUMN subscriptions.renewal_charges.misses IS 'Written by the release before payments.intents had the looks; goes with the next one.';

-- +goose Down
COMMENT ON COLUMN subscriptions.renewal_charges.look_at IS 'When the gateway may next be asked what became of the order.';
COMMENT ON COLUMN subscriptions.renewal_charges.misses IS NULL;
