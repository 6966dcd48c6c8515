CREATE OR REPLACE VIEW finance.daily AS
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
FROM finance_internal.daily_parts f
GROUP BY f.day;
COMMENT ON VIEW finance.daily IS 'Figures by day, exact at any moment: the rollup, what is not folded yet, and access that has ended by its date while its row is not closed. Only days on which something happened.';
COMMENT ON COLUMN finance.daily.day IS 'Day in the report time zone.';
COMMENT ON COLUMN finance.daily.gross_gwa_cents IS 'Subscription payments settled on the day at gateway A, cents.';
COMMENT ON COLUMN finance.daily.gross_gwb_cents IS 'The same at gateway B.';
COMMENT ON COLUMN finance.daily.payments IS 'Their number: settled attempts.';
COMMENT ON COLUMN finance.daily.failed_attempts IS 'Failed attempts to take a subscription payment.';
COMMENT ON COLUMN finance.daily.refunds_cents IS 'Subscription payments given back, cents, by refunded_on.';
COMMENT ON COLUMN finance.daily.chargebacks_cents IS 'Taken by disputes less what won ones gave back, cents.';
COMMENT ON COLUMN finance.daily.entries IS 'Customers whose access began, renewals left out.';
COMMENT ON COLUMN finance.daily.exits_payment_failure IS 'Customers whose access stopped by payment_failure, renewals left out.';
COMMENT ON COLUMN finance.daily.exits_customer_cancelled IS 'Customers whose access stopped by customer_cancelled, renewals left out.';
COMMENT ON COLUMN finance.daily.exits_admin_cancelled IS 'Customers whose access stopped by admin_cancelled, renewals left out.';
COMMENT ON COLUMN finance.daily.exits_chargeback IS 'Customers whose access stopped by chargeback, renewals left out.';
COMMENT ON COLUMN finance.daily.exits_expired IS 'Customers whose access stopped by expired, renewals left out.';
COMMENT ON COLUMN finance.daily.returned_in_day IS 'Of the entries, those of subscriptions that had left on the same day.';
COMMENT ON COLUMN finance.daily.returned_in_month_payment_failure IS 'Of the entries, those of subscriptions that had left by payment_failure in the same month.';
COMMENT ON COLUMN finance.daily.returned_in_month_customer_cancelled IS 'Of the entries, those of subscriptions that had left by customer_cancelled in the same month.';
COMMENT ON COLUMN finance.daily.returned_in_month_admin_cancelled IS 'Of the entries, those of subscriptions that had left by admin_cancelled in the same month.';
COMMENT ON COLUMN finance.daily.returned_in_month_chargeback IS 'Of the entries, those of subscriptions that had left by chargeback in the same month.';
COMMENT ON COLUMN finance.daily.returned_in_month_expired IS 'Of the entries, those of subscriptions that had left by expired in the same month.';
