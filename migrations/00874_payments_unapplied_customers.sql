-- +goose Up
ALTER TABLE payments.unapplied_payments ADD COLUMN gateway_customer_id text, ADD COLUMN told_at timestamptz;
COMMENT ON COLUMN payments.unapplied_payments.gateway_customer_id IS 'Whom the gateway took the money of, where nobody here was known under that id; customer_id is learned from it.';
COMMENT ON COLUMN payments.unapplied_payments.told_at IS 'When the operators were last told that money of nobody known here waits.';
UPDATE payments.unapplied_payments SET gateway_customer_id = substring(note FROM 'neither is its customer, ([^ ]+)\.')
WHERE kind = 'unknown' AND customer_id IS NULL;

-- +goose Down
ALTER TABLE payments.unapplied_payments DROP COLUMN told_at, DROP COLUMN gateway_customer_id;
