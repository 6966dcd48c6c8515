-- +goose Up
ALTER TABLE payments.unapplied_payments
    ADD COLUMN tries integer NOT NULL DEFAULT 0,
    ADD COLUMN next_try_at timestamptz;
COMMENT ON COLUMN payments.unapplied_payments.tries IS 'How often the gateway was asked about it in vain before an automatic refund.';
COMMENT ON COLUMN payments.unapplied_payments.next_try_at IS 'Not before then is it looked at again for an automatic refund; null: at once.';

-- +goose StatementBegin
CREATE FUNCTION payments.database_mark() RETURNS text LANGUAGE sql STABLE AS $$
    SELECT (pg_control_system()).system_identifier || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8) || '/' || d.oid
    FROM pg_database d WHERE d.datname = current_database()
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION payments.database_mark() IS 'What tells this database from a copy or an earlier state of it: the cluster, its timeline (a recovery from a backup and a failover begin a new one), and the database in it.';

CREATE TABLE payments.database_marks (
    only_one boolean PRIMARY KEY DEFAULT true,
    mark     text NOT NULL,
    noted_at timestamptz NOT NULL,
    CONSTRAINT database_marks_only_one CHECK (only_one)
);
COMMENT ON TABLE payments.database_marks IS 'Which database the money was refunded from by itself: where payments.database_mark() says otherwise, this is a restored one, and nothing is refunded by itself until somebody has reconciled.';

-- +goose Down
DROP TABLE payments.database_marks;
DROP FUNCTION payments.database_mark();
ALTER TABLE payments.unapplied_payments DROP COLUMN next_try_at, DROP COLUMN tries;
