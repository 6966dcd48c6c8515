-- +goose Up
COMMENT ON COLUMN subscriptions.pauses.next_try_at IS 'When the sweep takes it up, unless an intent of it is open: after a failed try the looks of payments.intents repeat it.';
COMMENT ON COLUMN subscriptions.charge_moves.next_try_at IS 'When the sweep takes it up, unless an intent of it is open: after a failed try the looks of payments.intents repeat it.';
COMMENT ON COLUMN subscriptions.plan_moves.next_try_at IS 'When the sweep takes it up, unless an intent of it is open: after a failed try the looks of payments.intents repeat it.';

-- +goose Down
COMMENT ON COLUMN subscriptions.pauses.next_try_at IS NULL;
COMMENT ON COLUMN subscriptions.charge_moves.next_try_at IS NULL;
COMMENT ON COLUMN subscriptions.plan_moves.next_try_at IS NULL;
