CREATE OR REPLACE VIEW finance_internal.tenure_scan AS
SELECT a.customer_id, min(a.from_at)::timestamptz AS first_access_at,
    CASE WHEN count(*) FILTER (WHERE a.until_at IS NULL) = 0 THEN max(a.until_at) END::timestamptz AS last_access_at,
    count(*) FILTER (WHERE a.until_at IS NULL) > 0 AS is_active,
    floor(sum(extract(epoch FROM greatest(coalesce(a.until_at, finance.now()) - a.from_at, interval '0'))) / 86400)::bigint AS access_days
FROM finance.access_periods a
GROUP BY a.customer_id;
COMMENT ON VIEW finance_internal.tenure_scan IS 'The same as finance.tenure, counted from finance.access_periods: slow, for checks.';
COMMENT ON COLUMN finance_internal.tenure_scan.customer_id IS 'The customer.';
COMMENT ON COLUMN finance_internal.tenure_scan.first_access_at IS 'When access first began, UTC.';
COMMENT ON COLUMN finance_internal.tenure_scan.last_access_at IS 'When it last stopped, UTC; null while it lasts.';
COMMENT ON COLUMN finance_internal.tenure_scan.is_active IS 'Has access now.';
COMMENT ON COLUMN finance_internal.tenure_scan.access_days IS 'Whole days of access, gaps left out.';
