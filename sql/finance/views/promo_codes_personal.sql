CREATE OR REPLACE VIEW finance.promo_codes_personal AS
SELECT c.id AS promo_code_id, c.code, c.target_customer_ids
FROM promos.promo_codes c;
COMMENT ON VIEW finance.promo_codes_personal IS 'PERSONAL DATA: the texts that redeem promo codes, and whom they were given to. Source: promos.promo_codes.';
COMMENT ON COLUMN finance.promo_codes_personal.promo_code_id IS 'Key, as in finance.promo_codes.';
COMMENT ON COLUMN finance.promo_codes_personal.code IS 'Six letters or digits; whoever knows them may redeem.';
COMMENT ON COLUMN finance.promo_codes_personal.target_customer_ids IS 'Customers it was made for.';
