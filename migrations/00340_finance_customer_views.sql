-- +goose Up
CREATE VIEW finance.customer_profiles_personal AS
SELECT u.id AS customer_id, u.username, u.email, coalesce(u.full_name, '') AS full_name, u.tax_id, u.phone, u.nationality, u.address,
    u.enable AS is_enabled, u.email_verified, u.email_verified_at, u.current_subscription_id, u.promo_code_used, u.created_at, u.updated_at
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
COMMENT ON COLUMN finance.customer_profiles_personal.current_subscription_id IS 'The subscription that opens the videos to him (finance.subscriptions); null for none.';
COMMENT ON COLUMN finance.customer_profiles_personal.promo_code_used IS 'The promo code given at signup.';
COMMENT ON COLUMN finance.customer_profiles_personal.created_at IS 'Instant, UTC.';
COMMENT ON COLUMN finance.customer_profiles_personal.updated_at IS 'Instant, UTC.';

CREATE VIEW finance.customer_logins_personal AS
SELECT l.login, l.user_id AS customer_id
FROM accounts.logins l;
COMMENT ON VIEW finance.customer_logins_personal IS 'PERSONAL DATA: whom a username or e-mail belongs to, by index. Source: accounts.logins.';
COMMENT ON COLUMN finance.customer_logins_personal.login IS 'Username or e-mail in the form in which they are compared: lower case, NFKC.';
COMMENT ON COLUMN finance.customer_logins_personal.customer_id IS 'Its user; an admin''s is in no view of customers.';

CREATE VIEW finance.tickets_personal AS
SELECT t.id AS ticket_id, t.title, t.promo_code
FROM tickets.tickets t;
COMMENT ON VIEW finance.tickets_personal IS 'PERSONAL DATA: what is written on tickets, which people may have worded, and the text of their promo code. Source: tickets.tickets.';
COMMENT ON COLUMN finance.tickets_personal.ticket_id IS 'Key, as in finance.tickets.';
COMMENT ON COLUMN finance.tickets_personal.title IS 'Title.';
COMMENT ON COLUMN finance.tickets_personal.promo_code IS 'The code that made it; null for none.';

CREATE VIEW finance.promo_redemptions_personal AS
SELECT r.id AS redemption_id, r.code
FROM promos.redemptions r;
COMMENT ON VIEW finance.promo_redemptions_personal IS 'PERSONAL DATA: the text that was redeemed. Source: promos.redemptions.';
COMMENT ON COLUMN finance.promo_redemptions_personal.redemption_id IS 'Key, as in finance.promo_redemptions.';
COMMENT ON COLUMN finance.promo_redemptions_personal.code IS 'As it was then.';

CREATE VIEW finance.watch_history AS
SELECT w.user_id AS customer_id, w.video_id, w.updated_at AS watched_at
FROM catalog.watch_history w
JOIN accounts.users u ON u.id = w.user_id AND u.user_type = 'customer';
COMMENT ON VIEW finance.watch_history IS 'Videos that customers have begun, one row each and video. Source: catalog.watch_history.';
COMMENT ON COLUMN finance.watch_history.customer_id IS 'The customer (finance.customers).';
COMMENT ON COLUMN finance.watch_history.video_id IS 'The video.';
COMMENT ON COLUMN finance.watch_history.watched_at IS 'When he last watched it, UTC.';

CREATE VIEW finance.customer_failures AS
SELECT s.customer_id, f.id AS failed_attempt_id, f.purpose, f.gateway, f.amount_cents, f.failed_at
FROM subscriptions.subscriptions s
JOIN payments.failed_attempts f ON f.purpose = 'subscription' AND f.local_id = s.id
UNION ALL
SELECT o.customer_id, f.id, f.purpose, f.gateway, f.amount_cents, f.failed_at
FROM tickets.orders o
JOIN payments.failed_attempts f ON f.purpose = 'order' AND f.local_id = o.id;
COMMENT ON VIEW finance.customer_failures IS 'Failed attempts to take a payment, with the customer: those of one are found by index. Source: payments.failed_attempts, subscriptions.subscriptions, tickets.orders.';
COMMENT ON COLUMN finance.customer_failures.customer_id IS 'The customer (finance.customers); stays when he is deleted.';
COMMENT ON COLUMN finance.customer_failures.failed_attempt_id IS 'Key, as in finance.failed_attempts.';
COMMENT ON COLUMN finance.customer_failures.purpose IS 'subscription or order.';
COMMENT ON COLUMN finance.customer_failures.gateway IS 'gwa or gwb.';
COMMENT ON COLUMN finance.customer_failures.amount_cents IS 'What was to be paid, cents.';
COMMENT ON COLUMN finance.customer_failures.failed_at IS 'Instant, UTC.';

SELECT finance.grant_analysts();

-- +goose Down
DROP VIEW finance.customer_failures;
DROP VIEW finance.watch_history;
DROP VIEW finance.promo_redemptions_personal;
DROP VIEW finance.tickets_personal;
DROP VIEW finance.customer_logins_personal;
DROP VIEW finance.customer_profiles_personal;
