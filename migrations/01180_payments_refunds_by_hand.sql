-- +goose Up
ALTER TABLE payments.refunds ALTER COLUMN gateway DROP NOT NULL;
ALTER TABLE payments.refunds DROP CONSTRAINT refunds_kind_known, DROP CONSTRAINT refunds_amount_positive;
ALTER TABLE payments.refunds
    ADD CONSTRAINT refunds_kind_known CHECK (kind IN ('refund', 'med', 'by_hand')) NOT VALID,
    ADD CONSTRAINT refunds_amount_positive CHECK (amount_cents > 0 OR kind = 'by_hand' AND amount_cents = 0) NOT VALID,
    ADD CONSTRAINT refunds_by_hand_has_no_gateway CHECK ((kind = 'by_hand') = (gateway IS NULL)) NOT VALID,
    ADD CONSTRAINT refunds_by_hand_is_done CHECK (kind <> 'by_hand' OR status = 'done' AND source = 'admin' AND purpose = 'order' AND payment_ref = local_id) NOT VALID;
ALTER TABLE payments.refunds VALIDATE CONSTRAINT refunds_kind_known;
ALTER TABLE payments.refunds VALIDATE CONSTRAINT refunds_amount_positive;
ALTER TABLE payments.refunds VALIDATE CONSTRAINT refunds_by_hand_has_no_gateway;
ALTER TABLE payments.refunds VALIDATE CONSTRAINT refunds_by_hand_is_done;
COMMENT ON COLUMN payments.refunds.gateway IS 'Null of what was handed back at the box office.';
COMMENT ON COLUMN payments.refunds.payment_ref IS 'Gateway A: pay_…. Gateway B: the payment intent pi_…, which its refunds and disputes name, else the charge. Handed back at the box office: the id of the order.';
COMMENT ON COLUMN payments.refunds.kind IS 'refund; med: of a PIX, and nobody here asked for it: the payer''s bank took it back. A whole PIX of a subscription that was taken back stands in payments.disputes instead. by_hand: staff handed it back at the box office; 0 cents of a courtesy.';

-- +goose Down
-- What was handed back has no place in the ledger as it was: no gateway knows of it.
DELETE FROM payments.refunds WHERE kind = 'by_hand';
ALTER TABLE payments.refunds DROP CONSTRAINT refunds_by_hand_is_done, DROP CONSTRAINT refunds_by_hand_has_no_gateway,
    DROP CONSTRAINT refunds_amount_positive, DROP CONSTRAINT refunds_kind_known;
ALTER TABLE payments.refunds
    ADD CONSTRAINT refunds_amount_positive CHECK (amount_cents > 0) NOT VALID,
    ADD CONSTRAINT refunds_kind_known CHECK (kind IN ('refund', 'med')) NOT VALID;
ALTER TABLE payments.refunds VALIDATE CONSTRAINT refunds_amount_positive;
ALTER TABLE payments.refunds VALIDATE CONSTRAINT refunds_kind_known;
ALTER TABLE payments.refunds ALTER COLUMN gateway SET NOT NULL;
COMMENT ON COLUMN payments.refunds.gateway IS NULL;
COMMENT ON COLUMN payments.refunds.payment_ref IS 'Gateway A: pay_…. Gateway B: the payment intent pi_…, which its refunds and disputes name, else the charge.';
COMMENT ON COLUMN payments.refunds.kind IS 'refund; med: of a PIX, and nobody here asked for it: the payer''s bank took it back. A whole PIX of a subscription that was taken back stands in payments.disputes instead.';
