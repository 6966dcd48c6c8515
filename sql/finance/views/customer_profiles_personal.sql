CREATE OR REPLACE VIEW finance.customer_profiles_personal AS
SELECT u.id AS customer_id, u.username, u.email, coalesce(u.full_name, '') AS full_name, u.tax_id, u.phone, u.nationality, u.address,
    u.enable AS is_enabled, u.email_verified, u.email_verified_at, u.current_subscription_id, u.promo_code_used, u.created_at, u.updated_at, u.labels
FROM accounts.users u
WHERE u.user_type = 'customer' AND u.deleted_at IS NULL;
COMMENT ON VIEW finance.customer_profiles_personal IS 'PERSONAL DATA: what staff may see of a customer, one row each who is not deleted. Source: accounts.users.';
COMMENT ON COLUMN finance.customer_profiles_personal.customer_id IS 'Key, as in finance.customers.';
COMMENT ON COLUMN finance.customer_profiles_personal.username IS 'Login name.';
COMMENT ON COLUMN finance.customer_profiles_personal.email IS 'E-mail, lower case.';
COMMENT ON COLUMN finance.customer_profiles_personal.full_name IS 'Name; empty when not told.';
COMMENT ON COLUMN finance.customer_profiles_personal.tax_id IS 'CPF or CNPJ without punctuation; null when not told.';
COMMENT ON COLUMN finance.customer_profiles_personal.phone IS 'Phone with country code; null when not told.';
COMMENT ON COLUMN finance.customer_profiles_personal.nationality IS 'ISO 3166-1; empty when not told.';
COMMENT ON COLUMN finance.customer_profiles_personal.address IS 'Object with street, number, complement, locality, city, region_code, country, postal_code; null when not told.';
COMMENT ON COLUMN finance.customer_profiles_personal.is_enabled IS 'May log in.';
COMMENT ON COLUMN finance.customer_profiles_personal.email_verified IS 'The address has been confirmed.';
COMMENT ON COLUMN finance.customer_profiles_personal.email_verified_at IS 'When, UTC.';
COMMENT ON COLUMN finance.customer_profiles_personal.current_subscription_id IS 'The subscription that opens the videos to them (finance.subscriptions); null for none.';
COMMENT ON COLUMN finance.customer_profiles_personal.promo_code_used IS 'The promo code given at signup.';
COMMENT ON COLUMN finance.customer_profiles_personal.created_at IS 'Instant, UTC.';
COMMENT ON COLUMN finance.customer_profiles_personal.updated_at IS 'Instant, UTC.';
COMMENT ON COLUMN finance.customer_profiles_personal.labels IS 'Words by which staff sort customers.';
