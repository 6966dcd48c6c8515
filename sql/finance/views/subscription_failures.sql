CREATE OR REPLACE VIEW finance.subscription_failures AS
SELECT f.id AS failed_attempt_id, f.local_id AS subscription_id, f.gateway, f.amount_cents, f.failed_at,
    (f.failed_at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS failed_on,
    (SELECT min(p.settled_at) FROM payments.payments p
     WHERE p.purpose = 'subscription' AND p.local_id = f.local_id AND p.settled_at > f.failed_at AND p.settled_at <= f.failed_at + interval '30 days') AS recovered_at
FROM payments.failed_attempts f
WHERE f.purpose = 'subscription';
COMMENT ON VIEW finance.subscription_failures IS 'Failed attempts of subscription payments, and whether the money came after all. Source: payments.failed_attempts, payments.payments.';
COMMENT ON COLUMN finance.subscription_failures.failed_attempt_id IS 'Key, as in finance.failed_attempts.';
COMMENT ON COLUMN finance.subscription_failures.subscription_id IS 'The subscription (finance.subscriptions).';
COMMENT ON COLUMN finance.subscription_failures.gateway IS 'gwa or gwb.';
COMMENT ON COLUMN finance.subscription_failures.amount_cents IS 'What was to be paid, cents.';
COMMENT ON COLUMN finance.subscription_failures.failed_at IS 'Instant, UTC.';
COMMENT ON COLUMN finance.subscription_failures.failed_on IS 'Day of failed_at in the report time zone.';
COMMENT ON COLUMN finance.subscription_failures.recovered_at IS 'The next settled payment of the subscription within 30 days, UTC; null when there is none.';
