CREATE OR REPLACE VIEW finance.promo_redemptions AS
SELECT r.id AS redemption_id, r.promo_code_id, r.customer_id, r.code_type, r.origin, r.tickets, r.subscription_id, r.paid_at, r.redeemed_at,
    (r.redeemed_at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS redeemed_on
FROM promos.redemptions r
WHERE r.redeemed_at IS NOT NULL;
COMMENT ON VIEW finance.promo_redemptions IS 'Redemptions of promo codes, one row a customer and code. Source: promos.redemptions.';
COMMENT ON COLUMN finance.promo_redemptions.redemption_id IS 'Key.';
COMMENT ON COLUMN finance.promo_redemptions.promo_code_id IS 'The promo code; it may have been deleted since.';
COMMENT ON COLUMN finance.promo_redemptions.customer_id IS 'The customer (finance.customers); stays when they are deleted.';
COMMENT ON COLUMN finance.promo_redemptions.code_type IS 'promo or ticket.';
COMMENT ON COLUMN finance.promo_redemptions.origin IS 'target (given at creation), redeem (by the customer), bundle (with a code that holds it), subscription (with a subscription).';
COMMENT ON COLUMN finance.promo_redemptions.tickets IS 'Tickets that it made.';
COMMENT ON COLUMN finance.promo_redemptions.subscription_id IS 'The subscription whose first month it lowered; null for none.';
COMMENT ON COLUMN finance.promo_redemptions.paid_at IS 'When that subscription was paid, UTC.';
COMMENT ON COLUMN finance.promo_redemptions.redeemed_at IS 'Instant, UTC.';
COMMENT ON COLUMN finance.promo_redemptions.redeemed_on IS 'Day of redeemed_at in the report time zone.';
