CREATE OR REPLACE VIEW finance.customers_personal AS
SELECT u.id AS customer_id, u.username, u.email, u.full_name, u.tax_id, u.phone
FROM accounts.users u
WHERE u.user_type = 'customer';
COMMENT ON VIEW finance.customers_personal IS 'PERSONAL DATA: who the customers are. Empty texts of deleted ones. Source: accounts.users.';
COMMENT ON COLUMN finance.customers_personal.customer_id IS 'Key, as in finance.customers.';
COMMENT ON COLUMN finance.customers_personal.username IS 'Login name.';
COMMENT ON COLUMN finance.customers_personal.email IS 'E-mail address.';
COMMENT ON COLUMN finance.customers_personal.full_name IS 'Name.';
COMMENT ON COLUMN finance.customers_personal.tax_id IS 'CPF or CNPJ, without punctuation.';
COMMENT ON COLUMN finance.customers_personal.phone IS 'Telephone number.';
