CREATE OR REPLACE FUNCTION payments.add_webhook_log_months(since timestamptz, months integer) RETURNS integer
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
COMMENT ON FUNCTION payments.add_webhook_log_months IS 'Makes the missing partitions of so many months (UTC), and tells how many it made.';
