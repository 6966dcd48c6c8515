CREATE OR REPLACE VIEW finance.access_periods AS
SELECT p.customer_id, p.subscription_id, p.at AS from_at, p.next_at AS until_at
FROM finance.movements p
WHERE p.kind = 'entry';
COMMENT ON VIEW finance.access_periods IS 'Time with access, one row a subscription and stretch; the two sides of a renewal are two rows. Source: finance.movements.';
COMMENT ON COLUMN finance.access_periods.customer_id IS 'The customer (finance.customers); stays when they are deleted.';
COMMENT ON COLUMN finance.access_periods.subscription_id IS 'The subscription (finance.subscriptions); null when it is not about one.';
COMMENT ON COLUMN finance.access_periods.from_at IS 'Beginning, UTC.';
COMMENT ON COLUMN finance.access_periods.until_at IS 'End, UTC; null while it lasts.';
