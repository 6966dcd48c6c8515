-- Sums of sums are the same figures: what is read over a period need not be put
-- together by day first, nor the instant be judged once a day.
CREATE OR REPLACE VIEW finance_internal.daily_parts AS
SELECT day,
    gross_gwa_cents, gross_gwb_cents, payments, failed_attempts, refunds_cents, chargebacks_cents, entries, exits_payment_failure,
    exits_customer_cancelled, exits_admin_cancelled, exits_chargeback, exits_expired, returned_in_day, returned_in_month_payment_failure,
    returned_in_month_customer_cancelled, returned_in_month_admin_cancelled, returned_in_month_chargeback, returned_in_month_expired
FROM finance.daily_rollup
UNION ALL
SELECT day,
    gross_gwa_cents, gross_gwb_cents, payments, failed_attempts, refunds_cents, chargebacks_cents, entries, exits_payment_failure,
    exits_customer_cancelled, exits_admin_cancelled, exits_chargeback, exits_expired, returned_in_day, returned_in_month_payment_failure,
    returned_in_month_customer_cancelled, returned_in_month_admin_cancelled, returned_in_month_chargeback, returned_in_month_expired
FROM finance_internal.daily_unfolded
UNION ALL
SELECT (greatest(s.expires_at, e.at) AT TIME ZONE z.report_tz)::date,
    0, 0, 0, 0, 0, 0, 0, 0, CASE WHEN s.cancel_at_period_end THEN 1 ELSE 0 END, 0, 0, CASE WHEN s.cancel_at_period_end THEN 0 ELSE 1 END, 0, 0, 0, 0, 0, 0
FROM finance.settings z CROSS JOIN subscriptions.subscriptions s
JOIN LATERAL (SELECT t.at FROM subscriptions.transitions t WHERE t.subscription_id = s.id AND t.to_status = 'active' ORDER BY t.id DESC LIMIT 1) e ON true
WHERE s.status = 'active' AND s.expires_at IS NOT NULL AND s.expires_at <= finance.now();
COMMENT ON VIEW finance_internal.daily_parts IS 'What finance.daily adds up: the rollup, what is not folded yet, and access that has ended by its date while its row is not closed; several rows a day. For sums over periods.';
COMMENT ON COLUMN finance_internal.daily_parts.day IS 'Day in the report time zone.';
COMMENT ON COLUMN finance_internal.daily_parts.gross_gwa_cents IS 'Subscription payments settled on the day at gateway A, cents.';
COMMENT ON COLUMN finance_internal.daily_parts.gross_gwb_cents IS 'The same at gateway B.';
COMMENT ON COLUMN finance_internal.daily_parts.payments IS 'Their number: settled attempts.';
COMMENT ON COLUMN finance_internal.daily_parts.failed_attempts IS 'Failed attempts to take a subscription payment.';
COMMENT ON COLUMN finance_internal.daily_parts.refunds_cents IS 'Subscription payments given back, cents, by refunded_on.';
COMMENT ON COLUMN finance_internal.daily_parts.chargebacks_cents IS 'Taken by disputes less what won ones gave back, cents.';
COMMENT ON COLUMN finance_internal.daily_parts.entries IS 'Customers whose access began, renewals left out.';
COMMENT ON COLUMN finance_internal.daily_parts.exits_payment_failure IS 'Customers whose access stopped by payment_failure, renewals left out.';
COMMENT ON COLUMN finance_internal.daily_parts.exits_customer_cancelled IS 'Customers whose access stopped by customer_cancelled, renewals left out.';
COMMENT ON COLUMN finance_internal.daily_parts.exits_admin_cancelled IS 'Customers whose access stopped by admin_cancelled, renewals left out.';
COMMENT ON COLUMN finance_internal.daily_parts.exits_chargeback IS 'Customers whose access stopped by chargeback, renewals left out.';
COMMENT ON COLUMN finance_internal.daily_parts.exits_expired IS 'Customers whose access stopped by expired, renewals left out.';
COMMENT ON COLUMN finance_internal.daily_parts.returned_in_day IS 'Of the entries, those of subscriptions that had left on the same day.';
COMMENT ON COLUMN finance_internal.daily_parts.returned_in_month_payment_failure IS 'Of the entries, those of subscriptions that had left by payment_failure in the same month.';
COMMENT ON COLUMN finance_internal.daily_parts.returned_in_month_customer_cancelled IS 'Of the entries, those of subscriptions that had left by customer_cancelled in the same month.';
COMMENT ON COLUMN finance_internal.daily_parts.returned_in_month_admin_cancelled IS 'Of the entries, those of subscriptions that had left by admin_cancelled in the same month.';
COMMENT ON COLUMN finance_internal.daily_parts.returned_in_month_chargeback IS 'Of the entries, those of subscriptions that had left by chargeback in the same month.';
COMMENT ON COLUMN finance_internal.daily_parts.returned_in_month_expired IS 'Of the entries, those of subscriptions that had left by expired in the same month.';
