-- Who moved in these months is found by index; only their movements are put in order.
CREATE OR REPLACE FUNCTION finance.mrr_changes_between(first_month date, last_month date) RETURNS SETOF finance_internal.mrr_changes LANGUAGE sql STABLE AS $$
WITH span AS MATERIALIZED (
    SELECT first_month::timestamp AT TIME ZONE z.report_tz AS starts, (last_month + interval '1 month') AT TIME ZONE z.report_tz AS ends FROM finance.settings z
), who AS MATERIALIZED (
    SELECT t.customer_id::text AS customer_id FROM subscriptions.transitions t
    WHERE t.at >= (SELECT starts FROM span) AND t.at < (SELECT ends FROM span) AND (t.from_status = 'active' OR t.to_status = 'active')
    UNION
    SELECT t.customer_id::text FROM finance.access_ends a JOIN subscriptions.transitions t ON t.id = a.transition_id
    WHERE a.ended_at >= (SELECT starts FROM span) AND a.ended_at < (SELECT ends FROM span)
    UNION
    SELECT s.customer_id::text FROM subscriptions.subscriptions s
    WHERE s.status = 'active' AND s.expires_at IS NOT NULL AND s.expires_at <= finance.now() AND s.expires_at < (SELECT ends FROM span)
    UNION
    SELECT s.customer_id::text FROM finance.price_changes k JOIN subscriptions.subscriptions s ON s.id = k.subscription_id
    WHERE k.at >= (SELECT starts FROM span) AND k.at < (SELECT ends FROM span)
)
SELECT c.* FROM who
CROSS JOIN LATERAL (
    -- OFFSET keeps it by itself, so that the customer is known before the windows
    SELECT v.* FROM finance_internal.mrr_changes v WHERE v.customer_id = who.customer_id AND v.month >= first_month AND v.month <= last_month OFFSET 0
) c
$$;
COMMENT ON FUNCTION finance.mrr_changes_between(date, date) IS 'The rows of finance_internal.mrr_changes of some months, both given by their first day and included.';
