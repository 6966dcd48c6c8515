CREATE OR REPLACE VIEW finance.customers AS
SELECT u.id AS customer_id, u.created_at, (u.created_at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS created_on,
    u.email_verified, u.enable AS is_enabled, u.trial_used_at, u.deleted_at IS NOT NULL AS is_deleted, u.deleted_at
FROM accounts.users u
WHERE u.user_type = 'customer';
COMMENT ON VIEW finance.customers IS 'Customers, one row each, also deleted ones, without personal data. Source: accounts.users.';
COMMENT ON COLUMN finance.customers.customer_id IS 'Key.';
COMMENT ON COLUMN finance.customers.created_at IS 'Instant, UTC.';
COMMENT ON COLUMN finance.customers.created_on IS 'Day of created_at in the report time zone.';
COMMENT ON COLUMN finance.customers.email_verified IS 'Has proved the address.';
COMMENT ON COLUMN finance.customers.is_enabled IS 'May log in.';
COMMENT ON COLUMN finance.customers.trial_used_at IS 'When their one trial began; null when they have had none.';
COMMENT ON COLUMN finance.customers.is_deleted IS 'Has no account any more; not among total_customers.';
COMMENT ON COLUMN finance.customers.deleted_at IS 'When the account was closed.';
