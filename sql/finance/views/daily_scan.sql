CREATE OR REPLACE VIEW finance_internal.daily_scan AS
SELECT f.day,
    sum(f.gross_gwa_cents)::bigint AS gross_gwa_cents,
    sum(f.gross_gwb_cents)::bigint AS gross_gwb_cents,
    sum(f.payments)::bigint AS payments,
    sum(f.failed_attempts)::bigint AS failed_attempts,
    sum(f.refunds_cents)::bigint AS refunds_cents,
    sum(f.chargebacks_cents)::bigint AS chargebacks_cents,
    sum(f.entries)::bigint AS entries,
    sum(f.exits_payment_failure)::bigint AS exits_payment_failure,
    sum(f.exits_customer_cancelled)::bigint AS exits_customer_cancelled,
    sum(f.exits_admin_cancelled)::bigint AS exits_admin_cancelled,
    sum(f.exits_chargeback)::bigint AS exits_chargeback,
    sum(f.exits_expired)::bigint AS exits_expired,
    sum(f.returned_in_day)::bigint AS returned_in_day,
    sum(f.returned_in_month_payment_failure)::bigint AS returned_in_month_payment_failure,
    sum(f.returned_in_month_customer_cancelled)::bigint AS returned_in_month_customer_cancelled,
    sum(f.returned_in_month_admin_cancelled)::bigint AS returned_in_month_admin_cancelled,
    sum(f.returned_in_month_chargeback)::bigint AS returned_in_month_chargeback,
    sum(f.returned_in_month_expired)::bigint AS returned_in_month_expired
FROM (
    SELECT p.settled_on AS day, CASE p.gateway WHEN 'gwa' THEN p.amount_cents ELSE 0 END AS gross_gwa_cents, CASE p.gateway WHEN 'gwb' THEN p.amount_cents ELSE 0 END AS gross_gwb_cents,
        1 AS payments, 0 AS failed_attempts, 0 AS refunds_cents, 0 AS chargebacks_cents, 0 AS entries,
        0 AS exits_payment_failure, 0 AS exits_customer_cancelled, 0 AS exits_admin_cancelled, 0 AS exits_chargeback, 0 AS exits_expired, 0 AS returned_in_day,
        0 AS returned_in_month_payment_failure, 0 AS returned_in_month_customer_cancelled, 0 AS returned_in_month_admin_cancelled,
        0 AS returned_in_month_chargeback, 0 AS returned_in_month_expired
    FROM finance.payments p WHERE p.purpose = 'subscription'
    UNION ALL
    SELECT a.failed_on, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
    FROM finance.failed_attempts a WHERE a.purpose = 'subscription'
    UNION ALL
    SELECT r.refunded_on, 0, 0, 0, 0, r.amount_cents, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
    FROM finance.refunds r WHERE r.purpose = 'subscription' AND r.is_done
    UNION ALL
    SELECT c.day, 0, 0, 0, 0, 0, c.amount_cents, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
    FROM finance.chargebacks c WHERE c.purpose = 'subscription'
    UNION ALL
    SELECT m.day, 0, 0, 0, 0, 0, 0, (m.kind = 'entry')::int,
        (m.kind = 'exit' AND m.reason = 'payment_failure')::int, (m.kind = 'exit' AND m.reason = 'customer_cancelled')::int,
        (m.kind = 'exit' AND m.reason = 'admin_cancelled')::int, (m.kind = 'exit' AND m.reason = 'chargeback')::int,
        (m.kind = 'exit' AND m.reason = 'expired')::int,
        coalesce(m.day = (m.left_at AT TIME ZONE z.report_tz)::date, false)::int,
        coalesce(m.left_reason = 'payment_failure' AND date_trunc('month', m.left_at AT TIME ZONE z.report_tz) = date_trunc('month', m.at AT TIME ZONE z.report_tz), false)::int,
        coalesce(m.left_reason = 'customer_cancelled' AND date_trunc('month', m.left_at AT TIME ZONE z.report_tz) = date_trunc('month', m.at AT TIME ZONE z.report_tz), false)::int,
        coalesce(m.left_reason = 'admin_cancelled' AND date_trunc('month', m.left_at AT TIME ZONE z.report_tz) = date_trunc('month', m.at AT TIME ZONE z.report_tz), false)::int,
        coalesce(m.left_reason = 'chargeback' AND date_trunc('month', m.left_at AT TIME ZONE z.report_tz) = date_trunc('month', m.at AT TIME ZONE z.report_tz), false)::int,
        coalesce(m.left_reason = 'expired' AND date_trunc('month', m.left_at AT TIME ZONE z.report_tz) = date_trunc('month', m.at AT TIME ZONE z.report_tz), false)::int
    FROM finance.movements m CROSS JOIN finance.settings z WHERE NOT m.is_renewal
) f
GROUP BY f.day;
COMMENT ON VIEW finance_internal.daily_scan IS 'The same as finance.daily, counted from the ledgers: slow, for checks.';
COMMENT ON COLUMN finance_internal.daily_scan.day IS 'Day in the report time zone.';
COMMENT ON COLUMN finance_internal.daily_scan.gross_gwa_cents IS 'Subscription payments settled on the day at gateway A, cents.';
COMMENT ON COLUMN finance_internal.daily_scan.gross_gwb_cents IS 'The same at gateway B.';
COMMENT ON COLUMN finance_internal.daily_scan.payments IS 'Their number: settled attempts.';
COMMENT ON COLUMN finance_internal.daily_scan.failed_attempts IS 'Failed attempts to take a subscription payment.';
COMMENT ON COLUMN finance_internal.daily_scan.refunds_cents IS 'Subscription payments given back, cents, by refunded_on.';
COMMENT ON COLUMN finance_internal.daily_scan.chargebacks_cents IS 'Taken by disputes less what won ones gave back, cents.';
COMMENT ON COLUMN finance_internal.daily_scan.entries IS 'Customers whose access began, renewals left out.';
COMMENT ON COLUMN finance_internal.daily_scan.exits_payment_failure IS 'Customers whose access stopped by payment_failure, renewals left out.';
COMMENT ON COLUMN finance_internal.daily_scan.exits_customer_cancelled IS 'Customers whose access stopped by customer_cancelled, renewals left out.';
COMMENT ON COLUMN finance_internal.daily_scan.exits_admin_cancelled IS 'Customers whose access stopped by admin_cancelled, renewals left out.';
COMMENT ON COLUMN finance_internal.daily_scan.exits_chargeback IS 'Customers whose access stopped by chargeback, renewals left out.';
COMMENT ON COLUMN finance_internal.daily_scan.exits_expired IS 'Customers whose access stopped by expired, renewals left out.';
COMMENT ON COLUMN finance_internal.daily_scan.returned_in_day IS 'Of the entries, those of subscriptions that had left on the same day.';
COMMENT ON COLUMN finance_internal.daily_scan.returned_in_month_payment_failure IS 'Of the entries, those of subscriptions that had left by payment_failure in the same month.';
COMMENT ON COLUMN finance_internal.daily_scan.returned_in_month_customer_cancelled IS 'Of the entries, those of subscriptions that had left by customer_cancelled in the same month.';
COMMENT ON COLUMN finance_internal.daily_scan.returned_in_month_admin_cancelled IS 'Of the entries, those of subscriptions that had left by admin_cancelled in the same month.';
COMMENT ON COLUMN finance_internal.daily_scan.returned_in_month_chargeback IS 'Of the entries, those of subscriptions that had left by chargeback in the same month.';
COMMENT ON COLUMN finance_internal.daily_scan.returned_in_month_expired IS 'Of the entries, those of subscriptions that had left by expired in the same month.';
