-- +goose Up
ALTER TABLE payments.payments ADD COLUMN counted boolean;
COMMENT ON COLUMN payments.payments.counted IS 'Of a subscription''s payment: whether it opened the subscription or paid one of its periods. False: it gave nothing, and stands on the list of unapplied payments. NULL: of an order, or booked before this was kept.';

-- +goose Down
ALTER TABLE payments.payments DROP COLUMN counted;
