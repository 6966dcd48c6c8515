CREATE OR REPLACE VIEW finance_internal.daily_unfolded AS
SELECT (d.at AT TIME ZONE z.report_tz)::date AS day,
    coalesce(sum(d.gross_gwa_cents), 0)::bigint AS gross_gwa_cents,
    coalesce(sum(d.gross_gwb_cents), 0)::bigint AS gross_gwb_cents,
    coalesce(sum(d.payments), 0)::bigint AS payments,
    coalesce(sum(d.failed_attempts), 0)::bigint AS failed_attempts,
    coalesce(sum(d.refunds_cents), 0)::bigint AS refunds_cents,
    coalesce(sum(d.chargebacks_cents), 0)::bigint AS chargebacks_cents,
    coalesce(sum(d.entries), 0)::bigint AS entries,
    coalesce(sum(d.exits) FILTER (WHERE d.reason = 'payment_failure'), 0)::bigint AS exits_payment_failure,
    coalesce(sum(d.exits) FILTER (WHERE d.reason = 'customer_cancelled'), 0)::bigint AS exits_customer_cancelled,
    coalesce(sum(d.exits) FILTER (WHERE d.reason = 'admin_cancelled'), 0)::bigint AS exits_admin_cancelled,
    coalesce(sum(d.exits) FILTER (WHERE d.reason = 'chargeback'), 0)::bigint AS exits_chargeback,
    coalesce(sum(d.exits) FILTER (WHERE d.reason = 'expired'), 0)::bigint AS exits_expired,
    coalesce(sum(d.entries) FILTER (WHERE (d.left_at AT TIME ZONE z.report_tz)::date = (d.at AT TIME ZONE z.report_tz)::date), 0)::bigint AS returned_in_day,
    coalesce(sum(d.entries) FILTER (WHERE d.reason = 'payment_failure' AND date_trunc('month', d.left_at AT TIME ZONE z.report_tz) = date_trunc('month', d.at AT TIME ZONE z.report_tz)), 0)::bigint AS returned_in_month_payment_failure,
    coalesce(sum(d.entries) FILTER (WHERE d.reason = 'customer_cancelled' AND date_trunc('month', d.left_at AT TIME ZONE z.report_tz) = date_trunc('month', d.at AT TIME ZONE z.report_tz)), 0)::bigint AS returned_in_month_customer_cancelled,
    coalesce(sum(d.entries) FILTER (WHERE d.reason = 'admin_cancelled' AND date_trunc('month', d.left_at AT TIME ZONE z.report_tz) = date_trunc('month', d.at AT TIME ZONE z.report_tz)), 0)::bigint AS returned_in_month_admin_cancelled,
    coalesce(sum(d.entries) FILTER (WHERE d.reason = 'chargeback' AND date_trunc('month', d.left_at AT TIME ZONE z.report_tz) = date_trunc('month', d.at AT TIME ZONE z.report_tz)), 0)::bigint AS returned_in_month_chargeback,
    coalesce(sum(d.entries) FILTER (WHERE d.reason = 'expired' AND date_trunc('month', d.left_at AT TIME ZONE z.report_tz) = date_trunc('month', d.at AT TIME ZONE z.report_tz)), 0)::bigint AS returned_in_month_expired
FROM finance.daily_deltas d CROSS JOIN finance.settings z
GROUP BY 1;
COMMENT ON VIEW finance_internal.daily_unfolded IS 'The part of finance.daily that is not folded yet.';
COMMENT ON COLUMN finance_internal.daily_unfolded.day IS 'Day in the report time zone.';
COMMENT ON COLUMN finance_internal.daily_unfolded.gross_gwa_cents IS 'Subscription payments settled on the day at gateway A, cents.';
COMMENT ON COLUMN finance_internal.daily_unfolded.gross_gwb_cents IS 'The same at gateway B.';
COMMENT ON COLUMN finance_internal.daily_unfolded.payments IS 'Their number: settled attempts.';
COMMENT ON COLUMN finance_internal.daily_unfolded.failed_attempts IS 'Failed attempts to take a subscription payment.';
COMMENT ON COLUMN finance_internal.daily_unfolded.refunds_cents IS 'Subscription payments given back, cents, by refunded_on.';
COMMENT ON COLUMN finance_internal.daily_unfolded.chargebacks_cents IS 'Taken by disputes less what won ones gave back, cents.';
COMMENT ON COLUMN finance_internal.daily_unfolded.entries IS 'Customers whose access began, renewals left out.';
COMMENT ON COLUMN finance_internal.daily_unfolded.exits_payment_failure IS 'Customers whose access stopped by payment_failure, renewals left out.';
COMMENT ON COLUMN finance_internal.daily_unfolded.exits_customer_cancelled IS 'Customers whose access stopped by customer_cancelled, renewals left out.';
COMMENT ON COLUMN finance_internal.daily_unfolded.exits_admin_cancelled IS 'Customers whose access stopped by admin_cancelled, renewals left out.';
COMMENT ON COLUMN finance_internal.daily_unfolded.exits_chargeback IS 'Customers whose access stopped by chargeback, renewals left out.';
COMMENT ON COLUMN finance_internal.daily_unfolded.exits_expired IS 'Customers whose access stopped by expired, renewals left out.';
COMMENT ON COLUMN finance_internal.daily_unfolded.returned_in_day IS 'Of the entries, those of subscriptions that had left on the same day.';
COMMENT ON COLUMN finance_internal.daily_unfolded.returned_in_month_payment_failure IS 'Of the entries, those of subscriptions that had left by payment_failure in the same month.';
COMMENT ON COLUMN finance_internal.daily_unfolded.returned_in_month_customer_cancelled IS 'Of the entries, those of subscriptions that had left by customer_cancelled in the same month.';
COMMENT ON COLUMN finance_internal.daily_unfolded.returned_in_month_admin_cancelled IS 'Of the entries, those of subscriptions that had left by admin_cancelled in the same month.';
COMMENT ON COLUMN finance_internal.daily_unfolded.returned_in_month_chargeback IS 'Of the entries, those of subscriptions that had left by chargeback in the same month.';
COMMENT ON COLUMN finance_internal.daily_unfolded.returned_in_month_expired IS 'Of the entries, those of subscriptions that had left by expired in the same month.';
