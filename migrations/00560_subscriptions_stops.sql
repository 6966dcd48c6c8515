-- +goose Up
CREATE INDEX subscriptions_open_stops ON subscriptions.subscriptions (register_update_date)
WHERE cancel_at_period_end AND gateway_deleted_at IS NULL AND gateway = 'gwa' AND status IN ('active', 'suspended');
COMMENT ON INDEX subscriptions.subscriptions_open_stops IS 'Recurrences that have still to be stopped at gateway A: those that are, and PIX periods that were paid once.';

-- +goose Down
DROP INDEX subscriptions.subscriptions_open_stops;
