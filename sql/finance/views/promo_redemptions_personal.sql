CREATE OR REPLACE VIEW finance.promo_redemptions_personal AS
SELECT r.id AS redemption_id, r.code
FROM promos.redemptions r;
COMMENT ON VIEW finance.promo_redemptions_personal IS 'PERSONAL DATA: the text that was redeemed. Source: promos.redemptions.';
COMMENT ON COLUMN finance.promo_redemptions_personal.redemption_id IS 'Key, as in finance.promo_redemptions.';
COMMENT ON COLUMN finance.promo_redemptions_personal.code IS 'As it was then.';
