-- +goose Up
-- The log grows without end, so that whole months have to be able to go at once:
-- a partition each. What keeps an event from being applied twice is
-- processed_events, which is no part of it: its key stays when the month goes.
ALTER TABLE payments.processed_events DROP CONSTRAINT processed_events_log_id_fkey;
COMMENT ON COLUMN payments.processed_events.log_id IS 'The log whose payload is applied again by retries and replays. Of a done event it may be gone by retention; the key stays, and with it the event is known for good.';
CREATE INDEX processed_events_open ON payments.processed_events (gateway, event_id) WHERE state IN ('queued', 'waiting');
COMMENT ON INDEX payments.processed_events_open IS 'Events not applied yet, whose logs outlive their month.';

ALTER TABLE payments.webhook_logs RENAME TO webhook_logs_early;
ALTER INDEX payments.webhook_logs_by_event RENAME TO webhook_logs_early_by_event;
ALTER INDEX payments.webhook_logs_by_time RENAME TO webhook_logs_early_by_time;
ALTER TABLE payments.webhook_logs_early DROP CONSTRAINT webhook_logs_pkey;

CREATE TABLE payments.webhook_logs (
    id              platform.object_id NOT NULL DEFAULT platform.new_object_id(),
    gateway         text NOT NULL,
    event_id        text,
    event_type      text,
    payload         jsonb NOT NULL,
    signature       text,
    signature_valid boolean NOT NULL,
    processed       boolean NOT NULL DEFAULT false,
    result          jsonb,
    received_at     timestamptz NOT NULL,
    processed_at    timestamptz,
    PRIMARY KEY (id, received_at),
    CONSTRAINT webhook_logs_gateway_known CHECK (gateway IN ('gwa', 'gwb')),
    CONSTRAINT webhook_logs_processed_has_result CHECK (NOT processed OR (result IS NOT NULL AND processed_at IS NOT NULL))
) PARTITION BY RANGE (received_at);
COMMENT ON TABLE payments.webhook_logs IS 'Every webhook call, also repeated and unauthenticated ones; a partition a month (UTC) of receipt.';
COMMENT ON COLUMN payments.webhook_logs.event_id IS 'The gateway''s id, kept whole; null when the body names none. Of an unauthenticated body it is a mere claim.';
COMMENT ON COLUMN payments.webhook_logs.payload IS 'The body; a JSON string when it is no JSON that can be stored.';
COMMENT ON COLUMN payments.webhook_logs.signature IS 'Gateway B''s signature header. Gateway A sends a secret token instead, which is never stored.';
COMMENT ON COLUMN payments.webhook_logs.processed IS 'The event has its final result; false for bad signatures and while a job tries again.';
CREATE INDEX webhook_logs_by_event ON payments.webhook_logs (gateway, event_id);
CREATE INDEX webhook_logs_by_time ON payments.webhook_logs (received_at DESC, id DESC);

CREATE TABLE payments.webhook_logs_rest PARTITION OF payments.webhook_logs DEFAULT;
COMMENT ON TABLE payments.webhook_logs_rest IS 'Logs of months without a partition, so that a call is always taken, and logs of events not applied yet whose month has gone.';

CREATE VIEW payments.webhook_log_months AS
SELECT c.relname::text AS partition,
    substring(pg_get_expr(c.relpartbound, c.oid) FROM $r$FROM \('([^']+)'\)$r$)::timestamptz AS begins_at,
    substring(pg_get_expr(c.relpartbound, c.oid) FROM $r$TO \('([^']+)'\)$r$)::timestamptz AS ends_at
FROM pg_catalog.pg_inherits i JOIN pg_catalog.pg_class c ON c.oid = i.inhrelid
WHERE i.inhparent = 'payments.webhook_logs'::regclass;
COMMENT ON VIEW payments.webhook_log_months IS 'The partitions of the log; begins_at is null for what was logged before there were any, both are for the rest.';

-- +goose StatementBegin
CREATE FUNCTION payments.add_webhook_log_months(since timestamptz, months integer) RETURNS integer
LANGUAGE plpgsql SET timezone = 'UTC' SET lock_timeout = '2s' AS $$
DECLARE
    lower timestamptz;
    upper timestamptz;
    name  text;
    added integer := 0;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('payments.webhook_logs'));
    FOR n IN 0 .. months - 1 LOOP
        lower := date_trunc('month', since) + make_interval(months => n);
        upper := lower + interval '1 month';
        name := 'webhook_logs_' || to_char(lower, 'YYYY_MM');
        -- A month that has begun in the rest stays there: moving it would hold up calls.
        CONTINUE WHEN EXISTS (SELECT 1 FROM payments.webhook_log_months m WHERE m.ends_at > lower AND (m.begins_at IS NULL OR m.begins_at < upper))
            OR EXISTS (SELECT 1 FROM payments.webhook_logs_rest r WHERE r.received_at >= lower AND r.received_at < upper);
        EXECUTE format('CREATE TABLE payments.%I (LIKE payments.webhook_logs INCLUDING ALL)', name);
        EXECUTE format('ALTER TABLE payments.webhook_logs ATTACH PARTITION payments.%I FOR VALUES FROM (%L) TO (%L)', name, lower, upper);
        added := added + 1;
    END LOOP;
    RETURN added;
END $$;
-- +goose StatementEnd
COMMENT ON FUNCTION payments.add_webhook_log_months IS 'Makes the missing partitions of so many months (UTC), and tells how many it made.';

-- +goose StatementBegin
CREATE FUNCTION payments.drop_webhook_log_month(before timestamptz) RETURNS text
LANGUAGE plpgsql SET timezone = 'UTC' SET lock_timeout = '2s' AS $$
DECLARE
    old text;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('payments.webhook_logs'));
    SELECT m.partition INTO old FROM payments.webhook_log_months m WHERE m.ends_at <= before ORDER BY m.ends_at LIMIT 1;
    IF old IS NULL THEN
        RETURN NULL;
    END IF;
    EXECUTE format('ALTER TABLE payments.webhook_logs DETACH PARTITION payments.%I', old);
    EXECUTE format('INSERT INTO payments.webhook_logs SELECT l.* FROM payments.processed_events e JOIN payments.%I l USING (gateway, event_id)
        WHERE e.state IN (''queued'', ''waiting'') AND l.signature_valid', old);
    EXECUTE format('DROP TABLE payments.%I', old);
    RETURN old;
END $$;
-- +goose StatementEnd
COMMENT ON FUNCTION payments.drop_webhook_log_month IS 'Drops the oldest partition that ends by the instant, logs of events not applied yet kept, and tells its name; null when there is none.';

-- What is there becomes one partition as it stands, without being copied: it ends
-- with the month, and goes as a whole when its last month does.
-- +goose StatementBegin
DO $$
DECLARE
    upper timestamptz;
BEGIN
    SET LOCAL timezone = 'UTC';
    SELECT date_trunc('month', greatest(now(), max(received_at))) + interval '1 month' INTO upper FROM payments.webhook_logs_early;
    IF EXISTS (SELECT 1 FROM payments.webhook_logs_early) THEN
        EXECUTE format('ALTER TABLE payments.webhook_logs ATTACH PARTITION payments.webhook_logs_early FOR VALUES FROM (MINVALUE) TO (%L)', upper);
    ELSE
        DROP TABLE payments.webhook_logs_early;
    END IF;
    PERFORM payments.add_webhook_log_months(now(), 4);
END $$;
-- +goose StatementEnd

-- +goose Down
DROP FUNCTION payments.drop_webhook_log_month(timestamptz);
DROP FUNCTION payments.add_webhook_log_months(timestamptz, integer);
DROP VIEW payments.webhook_log_months;
ALTER TABLE payments.webhook_logs RENAME TO webhook_logs_by_month;
ALTER INDEX payments.webhook_logs_pkey RENAME TO webhook_logs_by_month_pkey;
ALTER INDEX payments.webhook_logs_by_event RENAME TO webhook_logs_by_month_by_event;
ALTER INDEX payments.webhook_logs_by_time RENAME TO webhook_logs_by_month_by_time;
CREATE TABLE payments.webhook_logs (
    id              platform.object_id PRIMARY KEY DEFAULT platform.new_object_id(),
    gateway         text NOT NULL,
    event_id        text,
    event_type      text,
    payload         jsonb NOT NULL,
    signature       text,
    signature_valid boolean NOT NULL,
    processed       boolean NOT NULL DEFAULT false,
    result          jsonb,
    received_at     timestamptz NOT NULL,
    processed_at    timestamptz,
    CONSTRAINT webhook_logs_gateway_known CHECK (gateway IN ('gwa', 'gwb')),
    CONSTRAINT webhook_logs_processed_has_result CHECK (NOT processed OR (result IS NOT NULL AND processed_at IS NOT NULL))
);
COMMENT ON TABLE payments.webhook_logs IS 'Every webhook call, also repeated and unauthenticated ones.';
COMMENT ON COLUMN payments.webhook_logs.event_id IS 'The gateway''s id, kept whole; null when the body names none. Of an unauthenticated body it is a mere claim.';
COMMENT ON COLUMN payments.webhook_logs.payload IS 'The body; a JSON string when it is no JSON that can be stored.';
COMMENT ON COLUMN payments.webhook_logs.signature IS 'Gateway B''s signature header. Gateway A sends a secret token instead, which is never stored.';
COMMENT ON COLUMN payments.webhook_logs.processed IS 'The event has its final result; false for bad signatures and while a job tries again.';
INSERT INTO payments.webhook_logs SELECT * FROM payments.webhook_logs_by_month;
DROP TABLE payments.webhook_logs_by_month;
CREATE INDEX webhook_logs_by_event ON payments.webhook_logs (gateway, event_id);
CREATE INDEX webhook_logs_by_time ON payments.webhook_logs (received_at DESC);

DROP INDEX payments.processed_events_open;
COMMENT ON COLUMN payments.processed_events.log_id IS 'The first authenticated log, whose payload is applied again by retries and replays.';
-- Events whose logs have gone stay known: the constraint holds for what comes.
ALTER TABLE payments.processed_events ADD CONSTRAINT processed_events_log_id_fkey FOREIGN KEY (log_id) REFERENCES payments.webhook_logs (id) ON DELETE CASCADE NOT VALID;
-- +goose StatementBegin
DO $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM payments.processed_events e LEFT JOIN payments.webhook_logs l ON l.id = e.log_id WHERE l.id IS NULL) THEN
        ALTER TABLE payments.processed_events VALIDATE CONSTRAINT processed_events_log_id_fkey;
    END IF;
END $$;
-- +goose StatementEnd
