CREATE OR REPLACE FUNCTION payments.database_mark() RETURNS text LANGUAGE sql STABLE AS $$
    SELECT (pg_control_system()).system_identifier || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8) || '/' || d.oid
    FROM pg_database d WHERE d.datname = current_database()
$$;
COMMENT ON FUNCTION payments.database_mark() IS 'What tells this database from a copy or an earlier state of it: the cluster, its timeline (a recovery from a backup and a failover begin a new one), and the database in it.';
