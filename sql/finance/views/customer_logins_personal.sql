CREATE OR REPLACE VIEW finance.customer_logins_personal AS
SELECT l.login, l.user_id AS customer_id
FROM accounts.logins l;
COMMENT ON VIEW finance.customer_logins_personal IS 'PERSONAL DATA: whom a username or e-mail belongs to, by index. Source: accounts.logins.';
COMMENT ON COLUMN finance.customer_logins_personal.login IS 'Username or e-mail in the form in which they are compared: lower case, NFKC.';
COMMENT ON COLUMN finance.customer_logins_personal.customer_id IS 'Its user; an admin''s is in no view of customers.';
