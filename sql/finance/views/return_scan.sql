CREATE OR REPLACE VIEW finance_internal.return_scan AS
SELECT e.day, (e.left_at AT TIME ZONE z.report_tz)::date AS left_day, count(*) AS returns
FROM finance.entries e CROSS JOIN finance.settings z
WHERE e.left_at IS NOT NULL
GROUP BY 1, 2;
COMMENT ON VIEW finance_internal.return_scan IS 'The same as finance.returns, counted from finance.entries: slow, for checks.';
COMMENT ON COLUMN finance_internal.return_scan.day IS 'Day of the return, in the report time zone.';
COMMENT ON COLUMN finance_internal.return_scan.left_day IS 'Day on which access had stopped.';
COMMENT ON COLUMN finance_internal.return_scan.returns IS 'Number.';
