-- Who moved in these months is found by index; only their movements are put in order: an array of them, known before the
-- statement, is a condition below the windows of the view.
CREATE OR REPLACE FUNCTION finance.mrr_changes_between(first_month date, last_month date) RETURNS SETOF finance_internal.mrr_changes
LANGUAGE plpgsql STABLE SET jit = off SET work_mem = '32MB' AS $$
DECLARE
    starts timestamptz;
    ends timestamptz;
    who text[];
BEGIN
    SELECT first_month::timestamp AT TIME ZONE z.report_tz, (last_month + interval '1 month') AT TIME ZONE z.report_tz INTO starts, ends
    FROM finance.settings z;
    SELECT array_agg(w.customer_id) INTO who FROM (
        SELECT t.customer_id::text AS customer_id FROM subscriptions.transitions t
        WHERE t.at >= starts AND t.at < ends AND (t.from_status = 'active' OR t.to_status = 'active')
        UNION
        SELECT t.customer_id::text FROM finance.access_ends a JOIN subscriptions.transitions t ON t.id = a.transition_id
        WHERE a.ended_at >= starts AND a.ended_at < ends
        UNION
        SELECT s.customer_id::text FROM subscriptions.subscriptions s
        WHERE s.status = 'active' AND s.expires_at IS NOT NULL AND s.expires_at <= finance.now() AND s.expires_at < ends
        UNION
        SELECT s.customer_id::text FROM finance.price_changes k JOIN subscriptions.subscriptions s ON s.id = k.subscription_id
        WHERE k.at >= starts AND k.at < ends
    ) w;
    RETURN QUERY SELECT v.* FROM finance_internal.mrr_changes v WHERE v.customer_id = ANY (who) AND v.month >= first_month AND v.month <= last_month;
END
$$;
COMMENT ON FUNCTION finance.mrr_changes_between(date, date) IS 'The rows of finance_internal.mrr_changes of some months, both given by their first day and included.';
