-- +goose Up
-- Days overdue fell when the gateway moved next_billing_date past a failure: it counts only where nothing else tells.
CREATE OR REPLACE VIEW finance.due_scan AS
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
UPDATE finance.dues d SET next_billing_date = c.next_billing_date FROM finance.due_scan c
WHERE c.subscription_id = d.subscription_id AND c.next_billing_date IS DISTINCT FROM d.next_billing_date;
-- +goose StatementBegin
DO $$
BEGIN
    EXECUTE 'CREATE OR REPLACE VIEW finance.definitions AS ' || replace(pg_get_viewdef('finance.definitions'::regclass),
        'calendar days from the due date (next_billing_date when past, else the first failure of the run, else last_payment_at plus the period), at least 0',
        'calendar days from the first due date that was missed in this run of failures (of the first failure, else last_payment_at plus the period, else next_billing_date when past), at least 0; it never falls while nothing is paid');
END
$$;
-- +goose StatementEnd
COMMENT ON COLUMN finance.dues.next_billing_date IS 'Due then, once it is past, where otherwise_on is infinity; else null.';
COMMENT ON COLUMN finance.due_scan.next_billing_date IS 'Due then, once it is past, where otherwise_on is infinity; else null. UTC.';
COMMENT ON COLUMN finance.overdue.due_on IS 'First due day that was missed, in the report time zone: of the first failure since the last payment, else last_payment_at plus the period, else of next_billing_date when past; null when none is known.';
COMMENT ON COLUMN finance.overdue.days_overdue IS 'Calendar days from due_on to today, at least 0; it never falls while nothing is paid.';

-- +goose Down
CREATE OR REPLACE VIEW finance.due_scan AS
SELECT s.id AS subscription_id, s.next_billing_date,
    coalesce(
        (SELECT (min(f.failed_at) AT TIME ZONE z.report_tz)::date FROM payments.failed_attempts f
         WHERE f.purpose = 'subscription' AND f.local_id = s.id AND (s.last_payment_at IS NULL OR f.failed_at > s.last_payment_at)),
        ((s.last_payment_at AT TIME ZONE z.report_tz) + make_interval(months => s.period_months))::date,
        'infinity') AS otherwise_on
FROM subscriptions.subscriptions s CROSS JOIN finance.settings z
WHERE (s.payment_failures > 0 OR s.status = 'suspended') AND s.status NOT IN ('cancelled', 'expired');
UPDATE finance.dues d SET next_billing_date = c.next_billing_date FROM finance.due_scan c
WHERE c.subscription_id = d.subscription_id AND c.next_billing_date IS DISTINCT FROM d.next_billing_date;
-- +goose StatementBegin
DO $$
BEGIN
    EXECUTE 'CREATE OR REPLACE VIEW finance.definitions AS ' || replace(pg_get_viewdef('finance.definitions'::regclass),
        'calendar days from the first due date that was missed in this run of failures (of the first failure, else last_payment_at plus the period, else next_billing_date when past), at least 0; it never falls while nothing is paid',
        'calendar days from the due date (next_billing_date when past, else the first failure of the run, else last_payment_at plus the period), at least 0');
END
$$;
-- +goose StatementEnd
COMMENT ON COLUMN finance.dues.next_billing_date IS 'Due then, once it is past.';
COMMENT ON COLUMN finance.due_scan.next_billing_date IS 'Due then, once it is past; UTC.';
COMMENT ON COLUMN finance.overdue.due_on IS 'Due day in the report time zone: of next_billing_date when past, else of the first failure since the last payment, else last_payment_at plus the period; null when none is known.';
COMMENT ON COLUMN finance.overdue.days_overdue IS 'Calendar days from due_on to today, at least 0.';
