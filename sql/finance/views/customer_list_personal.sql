CREATE OR REPLACE VIEW finance.customer_list_personal AS
SELECT u.id AS customer_id, u.user_type, u.username, u.email, coalesce(u.full_name, '') AS full_name, u.tax_id, u.phone, u.nationality, u.address, u.language,
    u.avatar_id, u.my_list, u.enable, u.email_verified, u.email_verified_at, u.current_subscription_id, u.password_reset_required, u.promo_code_used,
    u.promo_code_id, u.gwb_customer_id, u.document_created_by_id, u.created_at, u.updated_at,
    s.plan_id, p.name AS plan_name, s.gateway, s.payment_method, s.status AS subscription_status, s.price_cents, s.started_at, s.last_payment_at,
    s.next_billing_date, s.expires_at
FROM accounts.users u
LEFT JOIN subscriptions.subscriptions s ON s.id = u.current_subscription_id
LEFT JOIN subscriptions.plans p ON p.plan_id = s.plan_id
WHERE u.user_type = 'customer' AND u.deleted_at IS NULL;
COMMENT ON VIEW finance.customer_list_personal IS 'PERSONAL DATA: customers who are not deleted, with their current subscription; what GET /customers shows and the export of customers filters by. Source: accounts.users, subscriptions.subscriptions, subscriptions.plans.';
COMMENT ON COLUMN finance.customer_list_personal.customer_id IS 'Key.';
COMMENT ON COLUMN finance.customer_list_personal.user_type IS 'customer.';
COMMENT ON COLUMN finance.customer_list_personal.username IS 'Login.';
COMMENT ON COLUMN finance.customer_list_personal.email IS 'Lower case.';
COMMENT ON COLUMN finance.customer_list_personal.full_name IS 'Empty when not told.';
COMMENT ON COLUMN finance.customer_list_personal.tax_id IS 'CPF (11) or CNPJ (14).';
COMMENT ON COLUMN finance.customer_list_personal.phone IS 'Plus sign, country code and number.';
COMMENT ON COLUMN finance.customer_list_personal.nationality IS 'ISO 3166-1; empty when not told.';
COMMENT ON COLUMN finance.customer_list_personal.address IS 'street, number, complement, locality, city, region_code, country, postal_code.';
COMMENT ON COLUMN finance.customer_list_personal.language IS 'Of mails.';
COMMENT ON COLUMN finance.customer_list_personal.avatar_id IS 'File id.';
COMMENT ON COLUMN finance.customer_list_personal.my_list IS 'Videos that the customer has marked.';
COMMENT ON COLUMN finance.customer_list_personal.enable IS 'False: they cannot log in.';
COMMENT ON COLUMN finance.customer_list_personal.email_verified IS 'Proved by a code.';
COMMENT ON COLUMN finance.customer_list_personal.email_verified_at IS 'Instant, UTC.';
COMMENT ON COLUMN finance.customer_list_personal.current_subscription_id IS 'The subscription whose columns stand here; null for none.';
COMMENT ON COLUMN finance.customer_list_personal.password_reset_required IS 'They are asked to choose a new password.';
COMMENT ON COLUMN finance.customer_list_personal.promo_code_used IS 'The promo code given at signup.';
COMMENT ON COLUMN finance.customer_list_personal.promo_code_id IS 'Its id.';
COMMENT ON COLUMN finance.customer_list_personal.gwb_customer_id IS 'The customer''s id at gateway B.';
COMMENT ON COLUMN finance.customer_list_personal.document_created_by_id IS 'The admin who made the account; null when its owner did.';
COMMENT ON COLUMN finance.customer_list_personal.created_at IS 'Instant, UTC.';
COMMENT ON COLUMN finance.customer_list_personal.updated_at IS 'Instant, UTC.';
COMMENT ON COLUMN finance.customer_list_personal.plan_id IS 'Plan of the current subscription.';
COMMENT ON COLUMN finance.customer_list_personal.plan_name IS 'Its name.';
COMMENT ON COLUMN finance.customer_list_personal.gateway IS 'gwa or gwb.';
COMMENT ON COLUMN finance.customer_list_personal.payment_method IS 'credit_card, pix or boleto.';
COMMENT ON COLUMN finance.customer_list_personal.subscription_status IS 'active, pending, suspended, cancelled or expired.';
COMMENT ON COLUMN finance.customer_list_personal.price_cents IS 'Price of one month as it was sold, cents.';
COMMENT ON COLUMN finance.customer_list_personal.started_at IS 'When it was first active, UTC.';
COMMENT ON COLUMN finance.customer_list_personal.last_payment_at IS 'Instant, UTC.';
COMMENT ON COLUMN finance.customer_list_personal.next_billing_date IS 'Instant, UTC.';
COMMENT ON COLUMN finance.customer_list_personal.expires_at IS 'End of access; null while a recurrence runs.';
