-- name: SnapshotBegin :exec
-- For the transaction alone: the instant as of which expiry is judged, and how
-- many milliseconds a statement may run.
SELECT set_config('finance.now', sqlc.arg(now)::text, true), set_config('statement_timeout', sqlc.arg(timeout)::text, true);

-- name: ReportZoneUse :one
-- ReportZoneUse has days and months cut in the zone from now on; true when it was
-- another before.
SELECT finance.use_report_tz(sqlc.arg(zone)::text)::boolean AS changed;
