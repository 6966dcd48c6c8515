-- +goose Up
-- Prices are R$ 1,000,000.00 at most, and what is charged at once a thousand times that.
-- A row from before that is beyond its bound stays until somebody changes it.
ALTER TABLE promos.promo_codes ADD CONSTRAINT promo_codes_discount_first_month_bounded CHECK (discount_first_month_cents <= 100000000) NOT VALID;
-- +goose StatementBegin
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM promos.promo_codes WHERE discount_first_month_cents > 100000000) THEN
        ALTER TABLE promos.promo_codes VALIDATE CONSTRAINT promo_codes_discount_first_month_bounded;
    END IF;
END $$;
-- +goose StatementEnd

-- +goose Down
ALTER TABLE promos.promo_codes DROP CONSTRAINT promo_codes_discount_first_month_bounded;
