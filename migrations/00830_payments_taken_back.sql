-- +goose Up
ALTER TABLE payments.unapplied_payments ADD COLUMN taken_back boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN payments.unapplied_payments.taken_back IS 'The amount is what the payer''s bank took back of the payment: it is gone, and there is nothing of it to refund or to extend by.';
UPDATE payments.unapplied_payments u SET taken_back = true
FROM payments.unapplied_decisions d
WHERE d.unapplied_id = u.id AND u.kind = 'unknown' AND u.bought AND d.from_state IS NULL AND d.reason LIKE 'The payer''s bank took back R$ %';

-- +goose Down
ALTER TABLE payments.unapplied_payments DROP COLUMN taken_back;
