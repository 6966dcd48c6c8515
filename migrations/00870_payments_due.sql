-- +goose Up
ALTER TABLE payments.payments ADD COLUMN due_at timestamptz;
COMMENT ON COLUMN payments.payments.due_at IS 'Of gateway A: the beginning, in São Paulo, of the day for which the charge was made first, wherever its due date was moved since. NULL: of gateway B, or booked before this was kept.';

-- +goose Down
ALTER TABLE payments.payments DROP COLUMN due_at;
