CREATE OR REPLACE VIEW finance.clock AS
SELECT s.report_tz, finance.now() AS now, (finance.now() AT TIME ZONE s.report_tz)::date AS today
FROM finance.settings s;
COMMENT ON VIEW finance.clock IS 'One row: the time zone of reports, and what time it is in them.';
COMMENT ON COLUMN finance.clock.report_tz IS 'Time zone of days and months (REPORT_TZ).';
COMMENT ON COLUMN finance.clock.now IS 'The instant as of which expiry and age are judged.';
COMMENT ON COLUMN finance.clock.today IS 'The calendar day of that instant in the report time zone.';
