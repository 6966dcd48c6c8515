-- Days overdue fell when the gateway moved next_billing_date past a failure: it counts only where nothing else tells.
CREATE OR REPLACE VIEW finance_internal.due_scan AS
SELECT o.subscription_id, CASE WHEN o.otherwise_on = 'infinity' THEN o.next_billing_date END AS next_billing_date, o.otherwise_on
FROM (
    SELECT s.id AS subscription_id, s.next_billing_date,
        coalesce(
            (SELECT (min(f.failed_at) AT TIME ZONE z.report_tz)::date FROM payments.failed_attempts f
             WHERE f.purpose = 'subscription' AND f.local_id = s.id AND (s.last_payment_at IS NULL OR f.failed_at > s.last_payment_at)),
            ((s.last_payment_at AT TIME ZONE z.report_tz) + make_interval(months => s.period_months))::date,
            'infinity') AS otherwise_on
    FROM subscriptions.subscriptions s CROSS JOIN finance.settings z
    WHERE (s.payment_failures > 0 OR s.status = 'suspended') AND s.status NOT IN ('cancelled', 'expired')
) o;
COMMENT ON VIEW finance_internal.due_scan IS 'Since when each overdue subscription is due, from the ledgers: slow, for checks. finance.overdue tells it of what is kept.';
COMMENT ON COLUMN finance_internal.due_scan.subscription_id IS 'The subscription.';
COMMENT ON COLUMN finance_internal.due_scan.otherwise_on IS 'The day on which it is due otherwise, in the report time zone; infinity when nothing tells.';
COMMENT ON COLUMN finance_internal.due_scan.next_billing_date IS 'Due then, once it is past, where otherwise_on is infinity; else null. UTC.';
