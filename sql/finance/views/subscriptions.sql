CREATE OR REPLACE VIEW finance.subscriptions AS
SELECT s.id AS subscription_id, s.customer_id, s.plan_id, p.name AS plan_name, p.tier, s.gateway, s.payment_method, s.pix_automatic, s.status,
    s.price_cents, s.period_months, s.trial_days,
    s.status = 'active' AND (s.expires_at IS NULL OR s.expires_at > finance.now()) AS is_active,
    s.status = 'active' AND (s.expires_at IS NULL OR s.expires_at > finance.now()) AND s.trial_days > 0 AND s.last_payment_at IS NULL AS is_trial,
    (s.payment_failures > 0 OR s.status = 'suspended') AND s.status NOT IN ('cancelled', 'expired') AS is_overdue,
    s.payment_failures, s.has_chargeback, s.cancel_at_period_end, s.total_refunded_cents, s.promo_code IS NOT NULL AS has_promo_code,
    s.register_date AS created_at, (s.register_date AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS created_on,
    s.started_at, s.last_payment_at, s.next_billing_date, s.expires_at, s.ended_at
FROM subscriptions.subscriptions s
JOIN subscriptions.plans p ON p.plan_id = s.plan_id;
COMMENT ON VIEW finance.subscriptions IS 'Subscriptions, one row each, as they stand. Source: subscriptions.subscriptions and plans.';
COMMENT ON COLUMN finance.subscriptions.subscription_id IS 'Key.';
COMMENT ON COLUMN finance.subscriptions.customer_id IS 'The customer (finance.customers); stays when they are deleted.';
COMMENT ON COLUMN finance.subscriptions.plan_id IS 'The plans text id (finance.plans).';
COMMENT ON COLUMN finance.subscriptions.plan_name IS 'The plans present name.';
COMMENT ON COLUMN finance.subscriptions.tier IS '1 basic, 2 plus, 3 premium.';
COMMENT ON COLUMN finance.subscriptions.gateway IS 'gwa or gwb.';
COMMENT ON COLUMN finance.subscriptions.payment_method IS 'credit_card, pix or boleto.';
COMMENT ON COLUMN finance.subscriptions.pix_automatic IS 'PIX that the payer has authorized once; each debit is ordered by us.';
COMMENT ON COLUMN finance.subscriptions.status IS 'active, pending, suspended, cancelled or expired. An active one may have run out: see is_active.';
COMMENT ON COLUMN finance.subscriptions.price_cents IS 'Price of one month in cents as it was sold; a later change of the plan does not move it.';
COMMENT ON COLUMN finance.subscriptions.period_months IS 'Months that one payment buys: 1 by card, the configured period by PIX.';
COMMENT ON COLUMN finance.subscriptions.trial_days IS 'Free days that it began with; 0 without a trial.';
COMMENT ON COLUMN finance.subscriptions.is_active IS 'Opens the videos: status active, and expires_at null or after finance.now(). Counts in active_subscriptions and MRR.';
COMMENT ON COLUMN finance.subscriptions.is_trial IS 'Active, began with free days and nothing has been paid yet. Counts in MRR, and apart in trial_mrr.';
COMMENT ON COLUMN finance.subscriptions.is_overdue IS '(payment_failures > 0 or status suspended) and status neither cancelled nor expired.';
COMMENT ON COLUMN finance.subscriptions.payment_failures IS 'Failed payments in a row; a payment resets it.';
COMMENT ON COLUMN finance.subscriptions.has_chargeback IS 'A dispute has closed it.';
COMMENT ON COLUMN finance.subscriptions.cancel_at_period_end IS 'Cancelled, with paid time left until expires_at.';
COMMENT ON COLUMN finance.subscriptions.total_refunded_cents IS 'Cents given back so far.';
COMMENT ON COLUMN finance.subscriptions.has_promo_code IS 'A promo code lowers its first payment.';
COMMENT ON COLUMN finance.subscriptions.created_at IS 'When it was ordered, UTC.';
COMMENT ON COLUMN finance.subscriptions.created_on IS 'Day of created_at in the report time zone.';
COMMENT ON COLUMN finance.subscriptions.started_at IS 'When it first became active; null while it never was.';
COMMENT ON COLUMN finance.subscriptions.last_payment_at IS 'Instant of the last payment, UTC.';
COMMENT ON COLUMN finance.subscriptions.next_billing_date IS 'When the next period begins and is charged; null while nothing recurs.';
COMMENT ON COLUMN finance.subscriptions.expires_at IS 'End of access; null while a recurrence runs.';
COMMENT ON COLUMN finance.subscriptions.ended_at IS 'When it became cancelled or expired.';
