-- +goose Up
ALTER TABLE payments.disputes ADD COLUMN kind text NOT NULL DEFAULT 'chargeback',
    ADD CONSTRAINT disputes_kind_known CHECK (kind IN ('chargeback', 'med'));
COMMENT ON COLUMN payments.disputes.kind IS 'chargeback: a card holder''s; med: the payer''s bank took a whole PIX of a subscription back (Mecanismo Especial de Devolução), opened and lost in one step.';
ALTER TABLE payments.refunds ADD COLUMN kind text NOT NULL DEFAULT 'refund',
    ADD CONSTRAINT refunds_kind_known CHECK (kind IN ('refund', 'med'));
COMMENT ON COLUMN payments.refunds.kind IS 'refund; med: of a PIX, and nobody here asked for it: the payer''s bank took it back. A whole PIX of a subscription that was taken back stands in payments.disputes instead.';

-- +goose Down
ALTER TABLE payments.refunds DROP COLUMN kind;
ALTER TABLE payments.disputes DROP COLUMN kind;
