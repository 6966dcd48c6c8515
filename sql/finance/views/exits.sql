CREATE OR REPLACE VIEW finance.exits AS
SELECT m.movement_id, m.customer_id, m.subscription_id, m.at, m.day, m.reason, m.returned_at,
    m.returned_at IS NULL OR (m.returned_at AT TIME ZONE z.report_tz)::date <> m.day AS counts_in_day,
    m.returned_at IS NULL OR date_trunc('month', m.returned_at AT TIME ZONE z.report_tz) <> date_trunc('month', m.at AT TIME ZONE z.report_tz) AS counts_in_month
FROM finance.movements m CROSS JOIN finance.settings z
WHERE m.kind = 'exit' AND NOT m.is_renewal;
COMMENT ON VIEW finance.exits IS 'Access lost, renewals left out. Cancelled of a month: rows where counts_in_month. Source: finance.movements.';
COMMENT ON COLUMN finance.exits.movement_id IS 'Order in time: the id of the transition; 9223372036854775807 for access that has ended by its date while the row is not closed yet.';
COMMENT ON COLUMN finance.exits.customer_id IS 'The customer (finance.customers); stays when they are deleted.';
COMMENT ON COLUMN finance.exits.subscription_id IS 'The subscription (finance.subscriptions); null when it is not about one.';
COMMENT ON COLUMN finance.exits.at IS 'When access stopped, UTC.';
COMMENT ON COLUMN finance.exits.day IS 'Day of at in the report time zone.';
COMMENT ON COLUMN finance.exits.reason IS 'Exactly one of payment_failure, customer_cancelled, admin_cancelled, chargeback, expired.';
COMMENT ON COLUMN finance.exits.returned_at IS 'When the same subscription came back; null while it has not.';
COMMENT ON COLUMN finance.exits.counts_in_day IS 'Counts in the figures of its day: it did not come back on the same day.';
COMMENT ON COLUMN finance.exits.counts_in_month IS 'Counts in the figures of its month: it did not come back in the same month.';
