-- +goose Up
-- The export of customers counts them without reading their subscriptions, and
-- sends the first ones at once.
CREATE INDEX users_customers_by_creation ON accounts.users (created_at, id) WHERE user_type = 'customer' AND deleted_at IS NULL;
COMMENT ON INDEX accounts.users_customers_by_creation IS 'Customers in the order of their export.';

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

-- +goose Down
CREATE OR REPLACE VIEW finance.customer_list_personal AS
SELECT u.id AS customer_id, u.user_type, u.username, u.email, coalesce(u.full_name, '') AS full_name, u.tax_id, u.phone, u.nationality, u.address, u.language,
    u.avatar_id, u.my_list, u.enable, u.email_verified, u.email_verified_at, u.current_subscription_id, u.password_reset_required, u.promo_code_used,
    u.promo_code_id, u.gwb_customer_id, u.document_created_by_id, u.created_at, u.updated_at,
    s.plan_id, s.plan_name, s.gateway, s.payment_method, s.status AS subscription_status, s.price_cents, s.started_at, s.last_payment_at,
    s.next_billing_date, s.expires_at
FROM accounts.users u
LEFT JOIN finance.subscriptions s ON s.subscription_id = u.current_subscription_id
WHERE u.user_type = 'customer' AND u.deleted_at IS NULL;
COMMENT ON VIEW finance.customer_list_personal IS 'PERSONAL DATA: customers who are not deleted, with their current subscription; what GET /customers shows and the export of customers filters by. Source: accounts.users, finance.subscriptions.';
DROP INDEX accounts.users_customers_by_creation;
