-- +goose Up
ALTER TABLE tickets.tickets ADD COLUMN refunded_at timestamptz,
    ADD CONSTRAINT tickets_refunded_by_refund CHECK (refunded_at IS NULL OR refund_id IS NOT NULL) NOT VALID;
ALTER TABLE tickets.tickets VALIDATE CONSTRAINT tickets_refunded_by_refund;
COMMENT ON COLUMN tickets.tickets.refunded_at IS 'When refund_id was known to be done: its share is back. A consumed ticket keeps status and place.';

-- +goose Down
ALTER TABLE tickets.tickets DROP COLUMN refunded_at;
