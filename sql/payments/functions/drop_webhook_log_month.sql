CREATE OR REPLACE FUNCTION payments.drop_webhook_log_month(before timestamptz) RETURNS text
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
COMMENT ON FUNCTION payments.drop_webhook_log_month IS 'Drops the oldest partition that ends by the instant, logs of events not applied yet kept, and tells its name; null when there is none.';
