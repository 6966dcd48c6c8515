CREATE OR REPLACE VIEW finance.returns AS
SELECT f.day, f.left_day, sum(f.returns)::bigint AS returns
FROM (
    SELECT r.day, r.left_day, r.returns FROM finance.return_rollup r
    UNION ALL
    SELECT (d.at AT TIME ZONE z.report_tz)::date, (d.left_at AT TIME ZONE z.report_tz)::date, d.entries
    FROM finance.daily_deltas d CROSS JOIN finance.settings z WHERE d.left_at IS NOT NULL
) f
GROUP BY f.day, f.left_day;
COMMENT ON VIEW finance.returns IS 'Subscriptions whose access came back, by day and by the day on which it had stopped: what is left out of a period that holds both. Exact at any moment.';
COMMENT ON COLUMN finance.returns.day IS 'Day of the return, in the report time zone.';
COMMENT ON COLUMN finance.returns.left_day IS 'Day on which access had stopped.';
COMMENT ON COLUMN finance.returns.returns IS 'Number.';
