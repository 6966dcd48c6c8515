CREATE OR REPLACE VIEW payments.webhook_log_months AS
SELECT c.relname::text AS partition,
    substring(pg_get_expr(c.relpartbound, c.oid) FROM $r$FROM \('([^']+)'\)$r$)::timestamptz AS begins_at,
    substring(pg_get_expr(c.relpartbound, c.oid) FROM $r$TO \('([^']+)'\)$r$)::timestamptz AS ends_at
FROM pg_catalog.pg_inherits i JOIN pg_catalog.pg_class c ON c.oid = i.inhrelid
WHERE i.inhparent = 'payments.webhook_logs'::regclass;
COMMENT ON VIEW payments.webhook_log_months IS 'The partitions of the log; begins_at is null for what was logged before there were any, both are for the rest.';
