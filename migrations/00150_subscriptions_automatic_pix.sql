-- +goose Up
ALTER TABLE subscriptions.subscriptions
    ADD COLUMN pix_automatic       boolean NOT NULL DEFAULT false,
    ADD COLUMN pix_conciliation_id text COLLATE "C",
    ADD COLUMN promo_code          text COLLATE "C",
    ADD COLUMN first_amount_cents  bigint,
    ADD COLUMN gateway_ended_at    timestamptz,
    ADD CONSTRAINT subscriptions_automatic_is_pix CHECK (NOT pix_automatic OR payment_method = 'pix'),
    ADD CONSTRAINT subscriptions_first_amount_not_negative CHECK (first_amount_cents >= 0);
COMMENT ON COLUMN subscriptions.subscriptions.pix_automatic IS 'The payer authorizes debits: a job makes each one.';
COMMENT ON COLUMN subscriptions.subscriptions.pix_conciliation_id IS 'Id of the first code of an automatic PIX: the only thing by which its payment is known.';
COMMENT ON COLUMN subscriptions.subscriptions.promo_code IS 'The code that lowers the first payment.';
COMMENT ON COLUMN subscriptions.subscriptions.first_amount_cents IS 'What the first payment costs when a promo code lowers it; null without one.';
COMMENT ON COLUMN subscriptions.subscriptions.gateway_ended_at IS 'When the gateway confirmed that nothing of an ended subscription runs there.';

CREATE UNIQUE INDEX subscriptions_pix_conciliation_unique ON subscriptions.subscriptions (pix_conciliation_id) WHERE pix_conciliation_id IS NOT NULL;
CREATE INDEX subscriptions_by_next_billing ON subscriptions.subscriptions (next_billing_date) WHERE status IN ('active', 'suspended');

-- +goose Down
DROP INDEX subscriptions.subscriptions_by_next_billing;
ALTER TABLE subscriptions.subscriptions
    DROP COLUMN pix_automatic, DROP COLUMN pix_conciliation_id, DROP COLUMN promo_code, DROP COLUMN first_amount_cents, DROP COLUMN gateway_ended_at;
