CREATE OR REPLACE VIEW finance.customer_failures AS
SELECT s.customer_id, f.id AS failed_attempt_id, f.purpose, f.gateway, f.amount_cents, f.failed_at
FROM subscriptions.subscriptions s
JOIN payments.failed_attempts f ON f.purpose = 'subscription' AND f.local_id = s.id
UNION ALL
SELECT o.customer_id, f.id, f.purpose, f.gateway, f.amount_cents, f.failed_at
FROM tickets.orders o
JOIN payments.failed_attempts f ON f.purpose = 'order' AND f.local_id = o.id;
COMMENT ON VIEW finance.customer_failures IS 'Failed attempts to take a payment, with the customer: those of one are found by index. Source: payments.failed_attempts, subscriptions.subscriptions, tickets.orders.';
COMMENT ON COLUMN finance.customer_failures.customer_id IS 'The customer (finance.customers); stays when they are deleted.';
COMMENT ON COLUMN finance.customer_failures.failed_attempt_id IS 'Key, as in finance.failed_attempts.';
COMMENT ON COLUMN finance.customer_failures.purpose IS 'subscription or order.';
COMMENT ON COLUMN finance.customer_failures.gateway IS 'gwa or gwb.';
COMMENT ON COLUMN finance.customer_failures.amount_cents IS 'What was to be paid, cents.';
COMMENT ON COLUMN finance.customer_failures.failed_at IS 'Instant, UTC.';
