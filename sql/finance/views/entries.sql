CREATE OR REPLACE VIEW finance.entries AS
SELECT m.movement_id, m.customer_id, m.subscription_id, m.at, m.day, m.left_at IS NOT NULL AS is_return, m.left_at, m.left_reason,
    m.left_at IS NULL OR (m.left_at AT TIME ZONE z.report_tz)::date <> m.day AS counts_in_day,
    m.left_at IS NULL OR date_trunc('month', m.left_at AT TIME ZONE z.report_tz) <> date_trunc('month', m.at AT TIME ZONE z.report_tz) AS counts_in_month
FROM finance.movements m CROSS JOIN finance.settings z
WHERE m.kind = 'entry' AND NOT m.is_renewal;
COMMENT ON VIEW finance.entries IS 'Access gained, renewals left out. New of a month: rows where counts_in_month. Source: finance.movements.';
COMMENT ON COLUMN finance.entries.movement_id IS 'Order in time: the id of the transition; 9223372036854775807 for access that has ended by its date while the row is not closed yet.';
COMMENT ON COLUMN finance.entries.customer_id IS 'The customer (finance.customers); stays when they are deleted.';
COMMENT ON COLUMN finance.entries.subscription_id IS 'The subscription (finance.subscriptions); null when it is not about one.';
COMMENT ON COLUMN finance.entries.at IS 'Instant, UTC.';
COMMENT ON COLUMN finance.entries.day IS 'Day of at in the report time zone.';
COMMENT ON COLUMN finance.entries.is_return IS 'The subscription had access before and comes back.';
COMMENT ON COLUMN finance.entries.left_at IS 'When its access had stopped; null for others.';
COMMENT ON COLUMN finance.entries.left_reason IS 'Why it had stopped.';
COMMENT ON COLUMN finance.entries.counts_in_day IS 'Counts in the figures of its day: not the return of a subscription that left on the same day.';
COMMENT ON COLUMN finance.entries.counts_in_month IS 'Counts in the figures of its month: not the return of a subscription that left in the same month.';
