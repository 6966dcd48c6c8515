-- +goose Up
ALTER TABLE payments.payments ADD COLUMN shown_at timestamptz;
COMMENT ON COLUMN payments.payments.shown_at IS 'When the gateway was asked for it first and showed it paid. NULL: only an event has told it, or it was booked before this was kept.';

-- +goose Down
ALTER TABLE payments.payments DROP COLUMN shown_at;
