CREATE OR REPLACE VIEW finance.overdue AS
SELECT o.subscription_id, o.customer_id, o.plan_id, o.plan_name, o.gateway, o.payment_method, o.status AS subscription_status, o.price_cents AS amount_cents,
    o.payment_failures, o.last_payment_at, o.next_billing_date, o.due_on,
    greatest(coalesce(o.today - o.due_on, 0), 0) AS days_overdue
FROM (
    SELECT s.subscription_id, s.customer_id, s.plan_id, s.plan_name, s.gateway, s.payment_method, s.status, s.price_cents, s.payment_failures,
        s.last_payment_at, s.next_billing_date, c.today,
        CASE WHEN d.next_billing_date < c.now THEN (d.next_billing_date AT TIME ZONE c.report_tz)::date ELSE nullif(d.otherwise_on, 'infinity') END AS due_on
    FROM finance.dues d
    CROSS JOIN (SELECT k.now, k.today, k.report_tz FROM finance.clock k OFFSET 0) c
    JOIN finance.subscriptions s ON s.subscription_id = d.subscription_id
) o;
COMMENT ON VIEW finance.overdue IS 'Overdue subscriptions, one row each: (payment_failures > 0 or suspended) and neither cancelled nor expired. total_amount_at_risk is the sum of amount_cents. Source: finance.subscriptions.';
COMMENT ON COLUMN finance.overdue.subscription_id IS 'The subscription (finance.subscriptions); null when it is not about one.';
COMMENT ON COLUMN finance.overdue.customer_id IS 'The customer (finance.customers); stays when they are deleted.';
COMMENT ON COLUMN finance.overdue.plan_id IS 'The plans text id (finance.plans).';
COMMENT ON COLUMN finance.overdue.plan_name IS 'The plans present name.';
COMMENT ON COLUMN finance.overdue.gateway IS 'gwa or gwb.';
COMMENT ON COLUMN finance.overdue.payment_method IS 'credit_card, pix or boleto.';
COMMENT ON COLUMN finance.overdue.subscription_status IS 'Its status.';
COMMENT ON COLUMN finance.overdue.amount_cents IS 'Price of one month, cents.';
COMMENT ON COLUMN finance.overdue.payment_failures IS 'Failed payments in a row; a payment resets it.';
COMMENT ON COLUMN finance.overdue.last_payment_at IS 'Instant of the last payment, UTC.';
COMMENT ON COLUMN finance.overdue.next_billing_date IS 'When the next period begins and is charged; null while nothing recurs.';
COMMENT ON COLUMN finance.overdue.due_on IS 'First due day that was missed, in the report time zone: of the first failure since the last payment, else last_payment_at plus the period, else of next_billing_date when past; null when none is known.';
COMMENT ON COLUMN finance.overdue.days_overdue IS 'Calendar days from due_on to today, at least 0; it never falls while nothing is paid.';
