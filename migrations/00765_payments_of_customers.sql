-- +goose Up
ALTER TABLE payments.payments DROP CONSTRAINT payments_purpose_known,
    ADD CONSTRAINT payments_purpose_known CHECK (purpose IN ('subscription', 'order') OR purpose = 'customer' AND local_id = customer_id) NOT VALID;
ALTER TABLE payments.refunds DROP CONSTRAINT refunds_purpose_known,
    ADD CONSTRAINT refunds_purpose_known CHECK (purpose IN ('subscription', 'order') OR purpose = 'customer' AND local_id = customer_id) NOT VALID;
ALTER TABLE payments.disputes DROP CONSTRAINT disputes_purpose_known,
    ADD CONSTRAINT disputes_purpose_known CHECK (purpose IN ('subscription', 'order') OR purpose = 'customer' AND local_id = customer_id) NOT VALID;
ALTER TABLE payments.payments VALIDATE CONSTRAINT payments_purpose_known;
ALTER TABLE payments.refunds VALIDATE CONSTRAINT refunds_purpose_known;
ALTER TABLE payments.disputes VALIDATE CONSTRAINT disputes_purpose_known;
COMMENT ON COLUMN payments.payments.purpose IS 'customer: money of a customer of ours that is of no subscription and no order; it stands on the list of unapplied payments and counts in no figure.';
COMMENT ON COLUMN payments.payments.local_id IS 'The subscription, order or customer, by purpose. No foreign key: they belong to other modules, and the ledger outlives them.';

-- +goose Down
-- What the older program knows no word for goes out of its ledger; the list keeps it, without a payment behind it.
DELETE FROM payments.disputes WHERE purpose = 'customer';
DELETE FROM payments.refunds WHERE purpose = 'customer';
DELETE FROM payments.payments WHERE purpose = 'customer';
ALTER TABLE payments.disputes DROP CONSTRAINT disputes_purpose_known, ADD CONSTRAINT disputes_purpose_known CHECK (purpose IN ('subscription', 'order'));
ALTER TABLE payments.refunds DROP CONSTRAINT refunds_purpose_known, ADD CONSTRAINT refunds_purpose_known CHECK (purpose IN ('subscription', 'order'));
ALTER TABLE payments.payments DROP CONSTRAINT payments_purpose_known, ADD CONSTRAINT payments_purpose_known CHECK (purpose IN ('subscription', 'order'));
COMMENT ON COLUMN payments.payments.purpose IS NULL;
COMMENT ON COLUMN payments.payments.local_id IS 'The subscription or order, by purpose. No foreign key: both belong to upper modules, and the ledger outlives them.';
