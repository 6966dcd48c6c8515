-- +goose Up
-- Prices are R$ 1,000,000.00 at most, and what is charged at once a thousand times that.
-- A row from before that is beyond its bound stays until somebody changes it.
ALTER TABLE subscriptions.plans ADD CONSTRAINT plans_amount_bounded CHECK (amount_cents <= 100000000) NOT VALID;
ALTER TABLE subscriptions.plans ADD CONSTRAINT plans_gwb_price_amount_bounded CHECK (gwb_price_amount_cents <= 100000000) NOT VALID;
ALTER TABLE subscriptions.subscriptions ADD CONSTRAINT subscriptions_price_bounded CHECK (price_cents <= 100000000) NOT VALID;
ALTER TABLE subscriptions.subscriptions ADD CONSTRAINT subscriptions_first_amount_bounded CHECK (first_amount_cents <= 100000000000) NOT VALID;
ALTER TABLE subscriptions.debits ADD CONSTRAINT debits_amount_bounded CHECK (amount_cents <= 100000000000) NOT VALID;
ALTER TABLE subscriptions.dunning_mails ADD CONSTRAINT dunning_mails_amount_bounded CHECK (amount_cents <= 100000000000) NOT VALID;
ALTER TABLE subscriptions.renewal_charges ADD CONSTRAINT renewal_charges_amount_bounded CHECK (amount_cents <= 100000000000) NOT VALID;
-- +goose StatementBegin
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM subscriptions.plans WHERE amount_cents > 100000000) THEN
        ALTER TABLE subscriptions.plans VALIDATE CONSTRAINT plans_amount_bounded;
    END IF;
    IF NOT EXISTS (SELECT FROM subscriptions.plans WHERE gwb_price_amount_cents > 100000000) THEN
        ALTER TABLE subscriptions.plans VALIDATE CONSTRAINT plans_gwb_price_amount_bounded;
    END IF;
    IF NOT EXISTS (SELECT FROM subscriptions.subscriptions WHERE price_cents > 100000000) THEN
        ALTER TABLE subscriptions.subscriptions VALIDATE CONSTRAINT subscriptions_price_bounded;
    END IF;
    IF NOT EXISTS (SELECT FROM subscriptions.subscriptions WHERE first_amount_cents > 100000000000) THEN
        ALTER TABLE subscriptions.subscriptions VALIDATE CONSTRAINT subscriptions_first_amount_bounded;
    END IF;
    IF NOT EXISTS (SELECT FROM subscriptions.debits WHERE amount_cents > 100000000000) THEN
        ALTER TABLE subscriptions.debits VALIDATE CONSTRAINT debits_amount_bounded;
    END IF;
    IF NOT EXISTS (SELECT FROM subscriptions.dunning_mails WHERE amount_cents > 100000000000) THEN
        ALTER TABLE subscriptions.dunning_mails VALIDATE CONSTRAINT dunning_mails_amount_bounded;
    END IF;
    IF NOT EXISTS (SELECT FROM subscriptions.renewal_charges WHERE amount_cents > 100000000000) THEN
        ALTER TABLE subscriptions.renewal_charges VALIDATE CONSTRAINT renewal_charges_amount_bounded;
    END IF;
END $$;
-- +goose StatementEnd

-- +goose Down
ALTER TABLE subscriptions.renewal_charges DROP CONSTRAINT renewal_charges_amount_bounded;
ALTER TABLE subscriptions.dunning_mails DROP CONSTRAINT dunning_mails_amount_bounded;
ALTER TABLE subscriptions.debits DROP CONSTRAINT debits_amount_bounded;
ALTER TABLE subscriptions.subscriptions DROP CONSTRAINT subscriptions_first_amount_bounded;
ALTER TABLE subscriptions.subscriptions DROP CONSTRAINT subscriptions_price_bounded;
ALTER TABLE subscriptions.plans DROP CONSTRAINT plans_gwb_price_amount_bounded;
ALTER TABLE subscriptions.plans DROP CONSTRAINT plans_amount_bounded;
