-- +goose Up
-- A chargeback entered by hand could be any number, and one that no sum holds made
-- every figure fail for good.
UPDATE payments.disputes SET amount_cents = 100000000 WHERE native_status = 'reported_by_admin' AND amount_cents > 100000000;

ALTER TABLE payments.disputes DROP CONSTRAINT disputes_state_known,
    ADD CONSTRAINT disputes_state_known CHECK (state IN ('inquiry', 'open', 'won', 'lost', 'dismissed', 'withdrawn')),
    DROP CONSTRAINT disputes_closed_has_time,
    ADD CONSTRAINT disputes_closed_has_time CHECK ((state IN ('won', 'lost', 'dismissed', 'withdrawn')) = (closed_at IS NOT NULL)),
    ADD CONSTRAINT disputes_withdrawn_by_hand CHECK (state <> 'withdrawn' OR native_status = 'reported_by_admin');
COMMENT ON COLUMN payments.disputes.state IS 'inquiry: asked, no money taken; open: money taken; won: given back; lost; dismissed: an inquiry that came to nothing; withdrawn: an admin entered it by mistake, and it counts nowhere.';

-- The largest payment is a thousand tickets of R$ 1,000,000.00. What a gateway reports
-- beyond is no event that can be applied.
ALTER TABLE payments.payments ADD CONSTRAINT payments_amount_bounded CHECK (amount_cents <= 100000000000) NOT VALID;
ALTER TABLE payments.refunds ADD CONSTRAINT refunds_amount_bounded CHECK (amount_cents <= 100000000000) NOT VALID;
ALTER TABLE payments.refund_reports ADD CONSTRAINT refund_reports_amount_bounded CHECK (amount_cents <= 100000000000) NOT VALID;
ALTER TABLE payments.disputes ADD CONSTRAINT disputes_amount_bounded CHECK (amount_cents <= 100000000000) NOT VALID;
ALTER TABLE payments.unapplied_payments ADD CONSTRAINT unapplied_payments_amount_bounded CHECK (amount_cents <= 100000000000) NOT VALID;
ALTER TABLE payments.unapplied_decisions ADD CONSTRAINT unapplied_decisions_amount_bounded CHECK (amount_cents <= 100000000000) NOT VALID;
-- A row from before that is beyond its bound stays until somebody changes it.
-- +goose StatementBegin
DO $$
DECLARE
    part text;
    beyond boolean;
BEGIN
    FOREACH part IN ARRAY ARRAY['payments', 'refunds', 'refund_reports', 'disputes', 'unapplied_payments', 'unapplied_decisions'] LOOP
        EXECUTE format('SELECT EXISTS (SELECT FROM payments.%I WHERE amount_cents > 100000000000)', part) INTO beyond;
        IF NOT beyond THEN
            EXECUTE format('ALTER TABLE payments.%I VALIDATE CONSTRAINT %I', part, part || '_amount_bounded');
        END IF;
    END LOOP;
END $$;
-- +goose StatementEnd

-- +goose Down
ALTER TABLE payments.unapplied_decisions DROP CONSTRAINT unapplied_decisions_amount_bounded;
ALTER TABLE payments.unapplied_payments DROP CONSTRAINT unapplied_payments_amount_bounded;
ALTER TABLE payments.refund_reports DROP CONSTRAINT refund_reports_amount_bounded;
ALTER TABLE payments.refunds DROP CONSTRAINT refunds_amount_bounded;
ALTER TABLE payments.payments DROP CONSTRAINT payments_amount_bounded;
-- What the older program knows no word for was never money taken.
ALTER TABLE payments.disputes DROP CONSTRAINT disputes_amount_bounded, DROP CONSTRAINT disputes_withdrawn_by_hand;
UPDATE payments.disputes SET state = 'dismissed' WHERE state = 'withdrawn';
ALTER TABLE payments.disputes DROP CONSTRAINT disputes_state_known,
    ADD CONSTRAINT disputes_state_known CHECK (state IN ('inquiry', 'open', 'won', 'lost', 'dismissed')),
    DROP CONSTRAINT disputes_closed_has_time,
    ADD CONSTRAINT disputes_closed_has_time CHECK ((state IN ('won', 'lost', 'dismissed')) = (closed_at IS NOT NULL));
COMMENT ON COLUMN payments.disputes.state IS 'inquiry: asked, no money taken; open: money taken; won: given back; lost; dismissed: an inquiry that came to nothing.';
