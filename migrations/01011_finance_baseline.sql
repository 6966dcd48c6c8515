-- +goose Up
CREATE SCHEMA finance;
COMMENT ON SCHEMA finance IS 'Figures: one set of views for the API, the exports and analysts. Formulas: docs/analysts.md and GET /api/v1/admin/finance/definitions. Money in integer cents, days and months in the report time zone.';

CREATE SCHEMA finance_internal;
COMMENT ON SCHEMA finance_internal IS 'The machinery of the views in schema finance: views named …_scan, …_unfolded and …_parts. Nobody but the owner has a right here.';

-- +goose StatementBegin
DO $$
DECLARE
    role text;
    setting text[];
    tries integer;
BEGIN
    FOREACH role IN ARRAY ARRAY['marquee_analyst', 'marquee_analyst_personal'] LOOP
        -- Roles belong to the cluster: another database's migration may be making them now.
        BEGIN
            IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role) THEN
                EXECUTE format('CREATE ROLE %I NOLOGIN', role);
            END IF;
        EXCEPTION
            WHEN duplicate_object OR unique_violation THEN
                NULL;
            WHEN insufficient_privilege THEN
                RAISE NOTICE 'Role % is not made: % may not create roles. Let an administrator create it (docs/analysts.md), then run SELECT finance.grant_analysts().', role, current_user;
                CONTINUE;
        END;
        FOREACH setting SLICE 1 IN ARRAY ARRAY[['default_transaction_read_only', 'on'], ['statement_timeout', '60s'], ['idle_in_transaction_session_timeout', '10min'], ['search_path', 'finance']] LOOP
            tries := 0;
            LOOP
                EXIT WHEN tries = 50 OR EXISTS (
                    SELECT FROM pg_roles, unnest(rolconfig) AS c WHERE rolname = role AND split_part(c, '=', 1) = setting[1]);
                tries := tries + 1;
                BEGIN
                    EXECUTE format('ALTER ROLE %I SET %s = %L', role, setting[1], setting[2]);
                EXCEPTION
                    -- internal_error is "tuple concurrently updated": somebody else set the same.
                    WHEN internal_error OR unique_violation THEN
                        NULL;
                    WHEN insufficient_privilege THEN
                        RAISE NOTICE '% of role % is not set: % may not change it. Let an administrator do so (docs/analysts.md).', setting[1], role, current_user;
                        EXIT;
                END;
            END LOOP;
        END LOOP;
    END LOOP;
END
$$;
-- +goose StatementEnd

CREATE TABLE finance.settings (
    only_row  boolean PRIMARY KEY DEFAULT true,
    report_tz text COLLATE "C" NOT NULL DEFAULT 'America/Sao_Paulo',
    CONSTRAINT settings_one_row CHECK (only_row)
);
COMMENT ON TABLE finance.settings IS 'One row: what every view has to know. Written by the service at start, from its configuration.';
COMMENT ON COLUMN finance.settings.report_tz IS 'Time zone of days and months, the configuration''s REPORT_TZ. Changed by finance.use_report_tz alone, since the rollups are kept by day.';

INSERT INTO finance.settings DEFAULT VALUES;
ANALYZE finance.settings; -- one row, which the planner should know

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION finance.now() RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT coalesce(nullif(current_setting('finance.now', true), '')::timestamptz, now())
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION finance.now() IS 'The instant as of which expiry and age are judged: the session''s setting finance.now (the service gives its clock that way), else the transaction''s start. It moves no rows: it is no time machine.';

CREATE OR REPLACE VIEW finance.clock AS
SELECT s.report_tz, finance.now() AS now, (finance.now() AT TIME ZONE s.report_tz)::date AS today
FROM finance.settings s;
COMMENT ON VIEW finance.clock IS 'One row: the time zone of reports, and what time it is in them.';
COMMENT ON COLUMN finance.clock.report_tz IS 'Time zone of days and months (REPORT_TZ).';
COMMENT ON COLUMN finance.clock.now IS 'The instant as of which expiry and age are judged.';
COMMENT ON COLUMN finance.clock.today IS 'The calendar day of that instant in the report time zone.';

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION finance.exit_reason(reason text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE
        WHEN reason IN ('payment_failure', 'customer_cancelled', 'admin_cancelled', 'chargeback', 'expired') THEN reason
        WHEN reason = 'withdrawn' THEN 'customer_cancelled'
        WHEN reason IN ('replaced', 'gateway_status', 'payment_declined', 'nothing_at_gateway', 'abandoned', 'pix_unpaid') THEN 'payment_failure'
        ELSE 'admin_cancelled'
    END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION finance.exit_reason(text) IS 'The one of the five reasons of churn under which a move out of active counts. withdrawn counts under customer_cancelled. What waits for a payment that has not come is payment_failure, also a renewal that is not paid (yet); a word that is none of ours, gone_at_gateway among them, was somebody''s hand: admin_cancelled.';

CREATE OR REPLACE VIEW finance.plans AS
SELECT p.plan_id, p.name AS plan_name, p.amount_cents, p.tier, CASE WHEN p.trial_enabled THEN p.trial_days ELSE 0 END AS trial_days, p.is_active,
    p.register_date AS created_at
FROM subscriptions.plans p;
COMMENT ON VIEW finance.plans IS 'Plans of subscriptions, one row a plan. Source: subscriptions.plans.';
COMMENT ON COLUMN finance.plans.plan_id IS 'The plans text id (finance.plans).';
COMMENT ON COLUMN finance.plans.plan_name IS 'The plans present name.';
COMMENT ON COLUMN finance.plans.amount_cents IS 'Present price of one month in cents, for new subscriptions.';
COMMENT ON COLUMN finance.plans.tier IS '1 basic, 2 plus, 3 premium.';
COMMENT ON COLUMN finance.plans.trial_days IS 'Free days that a customers first subscription begins with; 0 for none.';
COMMENT ON COLUMN finance.plans.is_active IS 'Can be subscribed to.';
COMMENT ON COLUMN finance.plans.created_at IS 'Instant, UTC.';

CREATE OR REPLACE VIEW finance.customers AS
SELECT u.id AS customer_id, u.created_at, (u.created_at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS created_on,
    u.email_verified, u.enable AS is_enabled, u.trial_used_at, u.deleted_at IS NOT NULL AS is_deleted, u.deleted_at
FROM accounts.users u
WHERE u.user_type = 'customer';
COMMENT ON VIEW finance.customers IS 'Customers, one row each, also deleted ones, without personal data. Source: accounts.users.';
COMMENT ON COLUMN finance.customers.customer_id IS 'Key.';
COMMENT ON COLUMN finance.customers.created_at IS 'Instant, UTC.';
COMMENT ON COLUMN finance.customers.created_on IS 'Day of created_at in the report time zone.';
COMMENT ON COLUMN finance.customers.email_verified IS 'Has proved the address.';
COMMENT ON COLUMN finance.customers.is_enabled IS 'May log in.';
COMMENT ON COLUMN finance.customers.trial_used_at IS 'When his one trial began; null when he has had none.';
COMMENT ON COLUMN finance.customers.is_deleted IS 'Has no account any more; not among total_customers.';
COMMENT ON COLUMN finance.customers.deleted_at IS 'When the account was closed.';

CREATE OR REPLACE VIEW finance.customers_personal AS
SELECT u.id AS customer_id, u.username, u.email, u.full_name, u.tax_id, u.phone
FROM accounts.users u
WHERE u.user_type = 'customer';
COMMENT ON VIEW finance.customers_personal IS 'PERSONAL DATA: who the customers are. Empty texts of deleted ones. Source: accounts.users.';
COMMENT ON COLUMN finance.customers_personal.customer_id IS 'Key, as in finance.customers.';
COMMENT ON COLUMN finance.customers_personal.username IS 'Login name.';
COMMENT ON COLUMN finance.customers_personal.email IS 'E-mail address.';
COMMENT ON COLUMN finance.customers_personal.full_name IS 'Name.';
COMMENT ON COLUMN finance.customers_personal.tax_id IS 'CPF or CNPJ, without punctuation.';
COMMENT ON COLUMN finance.customers_personal.phone IS 'Telephone number.';

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
COMMENT ON COLUMN finance.subscriptions.customer_id IS 'The customer (finance.customers); stays when he is deleted.';
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

CREATE OR REPLACE VIEW finance.payments AS
SELECT p.id AS payment_id, p.gateway, p.gateway_payment_id, p.purpose,
    CASE WHEN p.purpose = 'subscription' THEN p.local_id END::text AS subscription_id, CASE WHEN p.purpose = 'order' THEN p.local_id END::text AS order_id,
    p.customer_id, p.method AS payment_method, p.amount_cents, p.native_status,
    p.settled_at, (p.settled_at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS settled_on
FROM payments.payments p;
COMMENT ON VIEW finance.payments IS 'Settled payments, one row a gateway payment (CONFIRMED and, later, RECEIVED are one). Gross is the sum of amount_cents of purpose subscription by settled_on. Source: payments.payments.';
COMMENT ON COLUMN finance.payments.payment_id IS 'Key.';
COMMENT ON COLUMN finance.payments.gateway IS 'gwa or gwb.';
COMMENT ON COLUMN finance.payments.gateway_payment_id IS 'The gateways id, for checking against its statements. Gateway A: pay_…. Gateway B: the invoice in_…, else the payment intent pi_….';
COMMENT ON COLUMN finance.payments.purpose IS 'subscription or order. The finance dashboard counts subscription alone.';
COMMENT ON COLUMN finance.payments.subscription_id IS 'The subscription (finance.subscriptions); null when it is not about one.';
COMMENT ON COLUMN finance.payments.order_id IS 'The ticket order (finance.orders); null when it is not about one.';
COMMENT ON COLUMN finance.payments.customer_id IS 'The customer (finance.customers); stays when he is deleted.';
COMMENT ON COLUMN finance.payments.payment_method IS 'credit_card, pix or boleto.';
COMMENT ON COLUMN finance.payments.amount_cents IS 'What was paid, cents, whole: a yearly PIX stands in one row.';
COMMENT ON COLUMN finance.payments.native_status IS 'The gateways own word, such as CONFIRMED, RECEIVED, succeeded, paid.';
COMMENT ON COLUMN finance.payments.settled_at IS 'When the money counted, UTC: approved or received, whichever was first.';
COMMENT ON COLUMN finance.payments.settled_on IS 'Day of settled_at in the report time zone.';

CREATE OR REPLACE VIEW finance.failed_attempts AS
SELECT f.id AS failed_attempt_id, f.gateway, f.gateway_payment_id, f.attempt, f.purpose,
    CASE WHEN f.purpose = 'subscription' THEN f.local_id END::text AS subscription_id, CASE WHEN f.purpose = 'order' THEN f.local_id END::text AS order_id,
    f.amount_cents, f.failed_at, (f.failed_at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS failed_on
FROM payments.failed_attempts f;
COMMENT ON VIEW finance.failed_attempts IS 'Failed attempts to take a payment, one row a (gateway, payment or invoice, attempt number). A PIX that merely ran out is none. Source: payments.failed_attempts.';
COMMENT ON COLUMN finance.failed_attempts.failed_attempt_id IS 'Key.';
COMMENT ON COLUMN finance.failed_attempts.gateway IS 'gwa or gwb.';
COMMENT ON COLUMN finance.failed_attempts.gateway_payment_id IS 'The gateways id, for checking against its statements. Gateway A: pay_…. Gateway B: the invoice in_…, else the payment intent pi_….';
COMMENT ON COLUMN finance.failed_attempts.attempt IS 'Counted by the gateway from 1; 0 while the number has not been told.';
COMMENT ON COLUMN finance.failed_attempts.purpose IS 'subscription or order. The finance dashboard counts subscription alone.';
COMMENT ON COLUMN finance.failed_attempts.subscription_id IS 'The subscription (finance.subscriptions); null when it is not about one.';
COMMENT ON COLUMN finance.failed_attempts.order_id IS 'The ticket order (finance.orders); null when it is not about one.';
COMMENT ON COLUMN finance.failed_attempts.amount_cents IS 'What was to be paid, cents.';
COMMENT ON COLUMN finance.failed_attempts.failed_at IS 'Instant, UTC.';
COMMENT ON COLUMN finance.failed_attempts.failed_on IS 'Day of failed_at in the report time zone.';

CREATE OR REPLACE VIEW finance.refunds AS
SELECT r.id AS refund_id, r.gateway, r.gateway_refund_id, r.payment_ref, r.purpose,
    CASE WHEN r.purpose = 'subscription' THEN r.local_id END::text AS subscription_id, CASE WHEN r.purpose = 'order' THEN r.local_id END::text AS order_id,
    r.customer_id, r.amount_cents, r.status, r.status = 'done' AS is_done, r.source, r.event_id, r.event_type, r.requested_at,
    r.refunded_at, (r.refunded_at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS refunded_on
FROM payments.refunds r;
COMMENT ON VIEW finance.refunds IS 'Refunds, one row each, also those under way and failed. Money counts where is_done. Source: payments.refunds.';
COMMENT ON COLUMN finance.refunds.refund_id IS 'Key.';
COMMENT ON COLUMN finance.refunds.gateway IS 'gwa or gwb.';
COMMENT ON COLUMN finance.refunds.gateway_refund_id IS 'Gateway B re_…; gateway A gives none.';
COMMENT ON COLUMN finance.refunds.payment_ref IS 'The gateways id of the payment concerned: gateway A pay_…, gateway B the payment intent pi_…, else the charge.';
COMMENT ON COLUMN finance.refunds.purpose IS 'subscription or order. The finance dashboard counts subscription alone.';
COMMENT ON COLUMN finance.refunds.subscription_id IS 'The subscription (finance.subscriptions); null when it is not about one.';
COMMENT ON COLUMN finance.refunds.order_id IS 'The ticket order (finance.orders); null when it is not about one.';
COMMENT ON COLUMN finance.refunds.customer_id IS 'The customer (finance.customers); stays when he is deleted.';
COMMENT ON COLUMN finance.refunds.amount_cents IS 'What is given back, cents.';
COMMENT ON COLUMN finance.refunds.status IS 'requested, pending, done or failed.';
COMMENT ON COLUMN finance.refunds.is_done IS 'The money counts as given back. Only these rows enter totals.';
COMMENT ON COLUMN finance.refunds.event_id IS 'REFUND-… of one asked for here, else the gateways event.';
COMMENT ON COLUMN finance.refunds.event_type IS 'What reported it.';
COMMENT ON COLUMN finance.refunds.requested_at IS 'Instant, UTC.';
COMMENT ON COLUMN finance.refunds.refunded_at IS 'When the money counted as given back, UTC; null before.';
COMMENT ON COLUMN finance.refunds.refunded_on IS 'Day of refunded_at in the report time zone.';
COMMENT ON COLUMN finance.refunds.source IS 'admin: asked for here by an admin; platform: asked for here by itself, or because a customer withdrew; gateway: learned from the gateway.';

CREATE OR REPLACE VIEW finance.refunds_personal AS
SELECT r.id AS refund_id, r.reason, r.admin, r.failure
FROM payments.refunds r;
COMMENT ON VIEW finance.refunds_personal IS 'PERSONAL DATA: what people wrote at refunds. Source: payments.refunds.';
COMMENT ON COLUMN finance.refunds_personal.refund_id IS 'Key, as in finance.refunds.';
COMMENT ON COLUMN finance.refunds_personal.reason IS 'Free text of whoever asked.';
COMMENT ON COLUMN finance.refunds_personal.admin IS 'Username of the admin; null when the gateway reported it.';
COMMENT ON COLUMN finance.refunds_personal.failure IS 'Why it failed, in the gateways words.';

CREATE OR REPLACE VIEW finance.disputes AS
SELECT d.id AS dispute_id, d.gateway, d.gateway_dispute_id, d.payment_ref, d.purpose,
    CASE WHEN d.purpose = 'subscription' THEN d.local_id END::text AS subscription_id, CASE WHEN d.purpose = 'order' THEN d.local_id END::text AS order_id,
    d.customer_id, d.amount_cents, d.state, CASE WHEN d.native_status <> 'reported_by_admin' THEN d.reason END AS reason,
    d.opened_at, (d.opened_at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS opened_on,
    d.closed_at, (d.closed_at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS closed_on,
    d.kind::text AS kind
FROM payments.disputes d;
COMMENT ON VIEW finance.disputes IS 'Disputes (chargebacks), one row each. Source: payments.disputes.';
COMMENT ON COLUMN finance.disputes.dispute_id IS 'Key.';
COMMENT ON COLUMN finance.disputes.gateway IS 'gwa or gwb.';
COMMENT ON COLUMN finance.disputes.gateway_dispute_id IS 'The gateways id; CHARGEBACK-… of one that an admin entered.';
COMMENT ON COLUMN finance.disputes.payment_ref IS 'The gateways id of the payment concerned: gateway A pay_…, gateway B the payment intent pi_…, else the charge.';
COMMENT ON COLUMN finance.disputes.purpose IS 'subscription or order. The finance dashboard counts subscription alone.';
COMMENT ON COLUMN finance.disputes.subscription_id IS 'The subscription (finance.subscriptions); null when it is not about one.';
COMMENT ON COLUMN finance.disputes.order_id IS 'The ticket order (finance.orders); null when it is not about one.';
COMMENT ON COLUMN finance.disputes.customer_id IS 'The customer (finance.customers); stays when he is deleted.';
COMMENT ON COLUMN finance.disputes.amount_cents IS 'Disputed amount, cents.';
COMMENT ON COLUMN finance.disputes.reason IS 'The gateways word; null for disputes entered by hand, whose text is free.';
COMMENT ON COLUMN finance.disputes.opened_at IS 'Instant, UTC.';
COMMENT ON COLUMN finance.disputes.opened_on IS 'Day of opened_at in the report time zone.';
COMMENT ON COLUMN finance.disputes.closed_at IS 'When it was decided; null while it is not.';
COMMENT ON COLUMN finance.disputes.closed_on IS 'Day of closed_at in the report time zone.';
COMMENT ON COLUMN finance.disputes.kind IS 'chargeback (of a card) or med (the payers bank took a PIX back).';
COMMENT ON COLUMN finance.disputes.state IS 'inquiry (asked, no money taken), open (money taken), won (given back), lost, dismissed (an inquiry that came to nothing), withdrawn (entered by an admin by mistake: it counts nowhere).';

CREATE OR REPLACE VIEW finance.chargebacks AS
SELECT c.dispute_id, c.gateway, c.purpose, c.subscription_id, c.order_id, c.customer_id, c.kind, c.amount_cents,
    c.at, (c.at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS day
FROM (
    SELECT d.dispute_id, d.gateway, d.purpose, d.subscription_id, d.order_id, d.customer_id, 'taken'::text AS kind, d.amount_cents, d.opened_at AS at
    FROM finance.disputes d WHERE d.state IN ('open', 'won', 'lost')
    UNION ALL
    SELECT d.dispute_id, d.gateway, d.purpose, d.subscription_id, d.order_id, d.customer_id, 'given_back'::text, -d.amount_cents, d.closed_at
    FROM finance.disputes d WHERE d.state = 'won'
) c;
COMMENT ON VIEW finance.chargebacks IS 'Money moved by disputes, one row a movement: taken when a dispute opens, given back when it is won. Sums of amount_cents are chargebacks. Source: finance.disputes in the states open, won and lost.';
COMMENT ON COLUMN finance.chargebacks.dispute_id IS 'The dispute (finance.disputes).';
COMMENT ON COLUMN finance.chargebacks.gateway IS 'gwa or gwb.';
COMMENT ON COLUMN finance.chargebacks.purpose IS 'subscription or order. The finance dashboard counts subscription alone.';
COMMENT ON COLUMN finance.chargebacks.subscription_id IS 'The subscription (finance.subscriptions); null when it is not about one.';
COMMENT ON COLUMN finance.chargebacks.order_id IS 'The ticket order (finance.orders); null when it is not about one.';
COMMENT ON COLUMN finance.chargebacks.customer_id IS 'The customer (finance.customers); stays when he is deleted.';
COMMENT ON COLUMN finance.chargebacks.kind IS 'taken or given_back.';
COMMENT ON COLUMN finance.chargebacks.amount_cents IS 'Cents; negative when given back.';
COMMENT ON COLUMN finance.chargebacks.at IS 'opened_at when taken, closed_at when given back, UTC.';
COMMENT ON COLUMN finance.chargebacks.day IS 'Day of at in the report time zone.';

CREATE OR REPLACE VIEW finance.transitions AS
SELECT t.id AS transition_id, t.subscription_id, t.customer_id, t.at, (t.at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS day,
    t.from_status, t.to_status, t.reason, t.source
FROM subscriptions.transitions t;
COMMENT ON VIEW finance.transitions IS 'Every change of a subscriptions status, append-only. Source: subscriptions.transitions.';
COMMENT ON COLUMN finance.transitions.transition_id IS 'Key, in order of time.';
COMMENT ON COLUMN finance.transitions.subscription_id IS 'The subscription (finance.subscriptions); null when it is not about one.';
COMMENT ON COLUMN finance.transitions.customer_id IS 'The customer (finance.customers); stays when he is deleted.';
COMMENT ON COLUMN finance.transitions.at IS 'Instant of the change, UTC. Access may have stopped earlier: see finance.movements.';
COMMENT ON COLUMN finance.transitions.day IS 'Day of at in the report time zone.';
COMMENT ON COLUMN finance.transitions.from_status IS 'Null for the row that began the subscription.';
COMMENT ON COLUMN finance.transitions.to_status IS 'The status from then on.';
COMMENT ON COLUMN finance.transitions.reason IS 'Why; the words of subscriptions.';
COMMENT ON COLUMN finance.transitions.source IS 'What moved it: subscribe, webhook, recovery, reconciliation, live_read, job, customer or admin.';

-- Since when each overdue subscription is due took a look into its failures, of
-- all of them for each page. It is kept a row a subscription, so that a page is
-- read by an index.
CREATE TABLE finance.dues (
    subscription_id   platform.object_id PRIMARY KEY,
    next_billing_date timestamptz,
    otherwise_on      date NOT NULL
);
COMMENT ON TABLE finance.dues IS 'The overdue subscriptions, kept by triggers in the transaction of each change. Read finance.overdue.';
COMMENT ON COLUMN finance.dues.next_billing_date IS 'Due then, once it is past, where otherwise_on is infinity; else null.';
COMMENT ON COLUMN finance.dues.otherwise_on IS 'The day, in the report time zone, on which it is due otherwise: of the first failure of the run, else last_payment_at plus the period, else infinity.';

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
COMMENT ON COLUMN finance.overdue.customer_id IS 'The customer (finance.customers); stays when he is deleted.';
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

CREATE OR REPLACE VIEW finance.orders AS
SELECT o.id AS order_id, o.customer_id, o.event_id, e.title AS event_title, e.event_type, o.quantity, o.unit_price_cents, o.total_cents,
    o.gateway, o.payment_method, o.gateway_payment_id, o.payment_status, o.payment_status IN ('CONFIRMED', 'RECEIVED', 'succeeded') AND e.cancelled_at IS NULL AS is_paid, o.state,
    o.without_login, o.created_at, (o.created_at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS created_on,
    o.paid_at, (o.paid_at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS paid_on,
    o.disputed_at, coalesce(r.cents, 0)::bigint AS refunded_cents,
    CASE WHEN o.payment_status IN ('CONFIRMED', 'RECEIVED', 'succeeded') AND e.cancelled_at IS NULL THEN greatest(o.total_cents - coalesce(r.cents, 0), 0) ELSE 0 END::bigint AS revenue_cents,
    e.cancelled_at AS event_cancelled_at,
    CASE WHEN o.payment_status IN ('CONFIRMED', 'RECEIVED', 'succeeded') AND e.cancelled_at IS NOT NULL THEN greatest(o.total_cents - coalesce(r.cents, 0), 0) ELSE 0 END::bigint AS kept_cents
FROM tickets.orders o
JOIN tickets.events e ON e.id = o.event_id
LEFT JOIN (
    SELECT local_id, payment_ref, sum(amount_cents) AS cents FROM payments.refunds WHERE purpose = 'order' AND status = 'done' GROUP BY local_id, payment_ref
) r ON r.local_id = o.id AND r.payment_ref = o.gateway_payment_id;
COMMENT ON VIEW finance.orders IS 'Orders of the ticket store, one row each. Order revenue is the sum of revenue_cents. Source: tickets.orders, payments.refunds.';
COMMENT ON COLUMN finance.orders.order_id IS 'Key.';
COMMENT ON COLUMN finance.orders.customer_id IS 'The customer (finance.customers); stays when he is deleted.';
COMMENT ON COLUMN finance.orders.event_id IS 'The event (finance.events).';
COMMENT ON COLUMN finance.orders.event_title IS 'The events title.';
COMMENT ON COLUMN finance.orders.event_type IS 'movie_premiere, lecture, screening or other.';
COMMENT ON COLUMN finance.orders.quantity IS 'Tickets.';
COMMENT ON COLUMN finance.orders.unit_price_cents IS 'Price of one ticket as sold, cents.';
COMMENT ON COLUMN finance.orders.total_cents IS 'Cents.';
COMMENT ON COLUMN finance.orders.gateway IS 'gwa or gwb; null for free orders.';
COMMENT ON COLUMN finance.orders.payment_method IS 'credit_card or pix; null for free orders.';
COMMENT ON COLUMN finance.orders.gateway_payment_id IS 'The gateways id of its payment.';
COMMENT ON COLUMN finance.orders.without_login IS 'Bought as a guest.';
COMMENT ON COLUMN finance.orders.created_at IS 'Instant, UTC.';
COMMENT ON COLUMN finance.orders.created_on IS 'Day of created_at in the report time zone.';
COMMENT ON COLUMN finance.orders.paid_at IS 'When it was paid, UTC.';
COMMENT ON COLUMN finance.orders.paid_on IS 'Day of paid_at in the report time zone.';
COMMENT ON COLUMN finance.orders.state IS 'reserved, paid, released, refund_due, refunded or lost (a dispute took its money).';
COMMENT ON COLUMN finance.orders.payment_status IS 'The gateways own word; CHARGEBACK_LOST when a dispute took the money.';
COMMENT ON COLUMN finance.orders.disputed_at IS 'Since when a dispute of its payment is open, UTC; null while none is.';
COMMENT ON COLUMN finance.orders.refunded_cents IS 'Given back of its own payment, cents.';
COMMENT ON COLUMN finance.orders.revenue_cents IS 'total_cents minus refunded_cents where is_paid, else 0; cents.';
COMMENT ON COLUMN finance.orders.is_paid IS 'payment_status is CONFIRMED, RECEIVED or succeeded, and the event is not called off: an order that was refunded in full, or whose money a dispute took, has left.';
COMMENT ON COLUMN finance.orders.event_cancelled_at IS 'When its event was called off, UTC; null while it is not.';
COMMENT ON COLUMN finance.orders.kept_cents IS 'Of a called off event: total_cents minus refunded_cents, as long as it is here; cents. It is owed or was not asked for, and no revenue.';

CREATE OR REPLACE VIEW finance.tickets AS
SELECT t.id AS ticket_id, t.event_id, t.customer_id, t.order_id, t.promo_code_id, t.status, t.holds_place,
    t.status IN ('pending', 'available', 'consumed') AND e.cancelled_at IS NULL AS is_live,
    t.holds_place AND t.order_id IS NOT NULL AND e.cancelled_at IS NULL AS is_sold,
    t.holds_place AND t.order_id IS NULL AND t.promo_code_id IS NOT NULL AND e.cancelled_at IS NULL AS is_promo,
    t.register_date AS created_at, t.consumed_at,
    tickets.blocked(t.status, t.refund_id, o.disputed_at, e.cancelled_at) AS blocked, t.refunded_at
FROM tickets.tickets t
LEFT JOIN tickets.events e ON e.id = t.event_id
LEFT JOIN tickets.orders o ON o.id = t.order_id;
COMMENT ON VIEW finance.tickets IS 'Tickets, one row each. Source: tickets.tickets, tickets.events, tickets.orders.';
COMMENT ON COLUMN finance.tickets.ticket_id IS 'Key.';
COMMENT ON COLUMN finance.tickets.event_id IS 'The event (finance.events).';
COMMENT ON COLUMN finance.tickets.customer_id IS 'The customer (finance.customers); stays when he is deleted.';
COMMENT ON COLUMN finance.tickets.order_id IS 'The order that sold it; null for promo codes and gifts.';
COMMENT ON COLUMN finance.tickets.promo_code_id IS 'The promo code that made it; null for none.';
COMMENT ON COLUMN finance.tickets.status IS 'pending, available, consumed or expired.';
COMMENT ON COLUMN finance.tickets.holds_place IS 'False once it expired unpaid.';
COMMENT ON COLUMN finance.tickets.created_at IS 'Instant, UTC.';
COMMENT ON COLUMN finance.tickets.consumed_at IS 'When it was used at the door, UTC.';
COMMENT ON COLUMN finance.tickets.is_live IS 'pending, available or consumed, of an event that is not called off: counts in occupancy.';
COMMENT ON COLUMN finance.tickets.is_sold IS 'With an order, not expired unpaid, of an event that is not called off.';
COMMENT ON COLUMN finance.tickets.is_promo IS 'With a promo code and no order, likewise.';
COMMENT ON COLUMN finance.tickets.blocked IS 'Why it opens no door although its status holds: refund_requested, event_cancelled, payment_disputed; null when nothing blocks it.';
COMMENT ON COLUMN finance.tickets.refunded_at IS 'When its share of the orders money was given back, UTC.';

-- Whoever asks neither for tickets nor for orders has them not counted.
CREATE OR REPLACE VIEW finance.events AS
SELECT e.id AS event_id, e.title, e.event_type, e.event_date, e.ends_at, e.location, coalesce(e.capacity, 0) AS capacity, e.is_active,
    e.is_sale_box_office AS is_on_sale, e.event_date > finance.now() AND e.cancelled_at IS NULL AS is_upcoming, coalesce(e.ticket_value_cents, 0) AS ticket_value_cents,
    t.live AS tickets_live, t.sold AS tickets_sold, t.promo AS tickets_promo, t.pending AS tickets_pending, t.available AS tickets_available,
    t.consumed AS tickets_consumed, t.expired AS tickets_expired,
    o.orders AS orders_count, CASE WHEN e.cancelled_at IS NULL THEN o.paid ELSE 0 END AS paid_orders,
    CASE WHEN e.cancelled_at IS NULL THEN greatest(o.revenue_cents - g.cents, 0) ELSE 0 END AS revenue_cents,
    CASE WHEN coalesce(e.capacity, 0) = 0 THEN 0 ELSE round(100.0 * t.live / e.capacity, 2) END::numeric AS occupancy_pct, e.cancelled_at,
    CASE WHEN e.cancelled_at IS NULL THEN 0 ELSE greatest(o.revenue_cents - g.cents, 0) END AS kept_cents
FROM tickets.events e
LEFT JOIN LATERAL (
    SELECT count(*) FILTER (WHERE k.is_live) AS live, count(*) FILTER (WHERE k.is_sold) AS sold, count(*) FILTER (WHERE k.is_promo) AS promo,
        count(*) FILTER (WHERE k.status = 'pending') AS pending, count(*) FILTER (WHERE k.status = 'available') AS available,
        count(*) FILTER (WHERE k.status = 'consumed') AS consumed, count(*) FILTER (WHERE k.status = 'expired') AS expired
    FROM finance.tickets k WHERE k.event_id = e.id) t ON true
LEFT JOIN LATERAL (
    SELECT count(*) AS orders, count(*) FILTER (WHERE b.payment_status IN ('CONFIRMED', 'RECEIVED', 'succeeded')) AS paid,
        coalesce(sum(b.total_cents) FILTER (WHERE b.payment_status IN ('CONFIRMED', 'RECEIVED', 'succeeded')), 0)::bigint AS revenue_cents
    FROM tickets.orders b WHERE b.event_id = e.id) o ON true
LEFT JOIN LATERAL (
    SELECT coalesce(sum(r.amount_cents), 0)::bigint AS cents
    FROM tickets.orders b JOIN payments.refunds r ON r.purpose = 'order' AND r.local_id = b.id AND r.payment_ref = b.gateway_payment_id AND r.status = 'done'
    WHERE b.event_id = e.id AND b.payment_status IN ('CONFIRMED', 'RECEIVED', 'succeeded')) g ON true;
COMMENT ON VIEW finance.events IS 'Events with their occupancy and revenue, one row each. Source: tickets.events, finance.tickets, tickets.orders, payments.refunds.';
COMMENT ON COLUMN finance.events.event_id IS 'Key.';
COMMENT ON COLUMN finance.events.title IS 'Title.';
COMMENT ON COLUMN finance.events.event_type IS 'movie_premiere, lecture, screening or other.';
COMMENT ON COLUMN finance.events.event_date IS 'Start, UTC.';
COMMENT ON COLUMN finance.events.ends_at IS 'End, UTC; three hours after the start when none was given.';
COMMENT ON COLUMN finance.events.location IS 'Place.';
COMMENT ON COLUMN finance.events.capacity IS 'Places; 0 is unlimited.';
COMMENT ON COLUMN finance.events.is_active IS 'Switched on.';
COMMENT ON COLUMN finance.events.is_on_sale IS 'Sold in the store.';
COMMENT ON COLUMN finance.events.ticket_value_cents IS 'Price of one ticket, cents; 0 is free.';
COMMENT ON COLUMN finance.events.tickets_live IS 'Tickets pending, available or consumed.';
COMMENT ON COLUMN finance.events.tickets_sold IS 'Tickets with an order, not counting those that expired unpaid.';
COMMENT ON COLUMN finance.events.tickets_promo IS 'Tickets with a promo code and no order, likewise.';
COMMENT ON COLUMN finance.events.tickets_pending IS 'Tickets whose order is not paid yet.';
COMMENT ON COLUMN finance.events.tickets_available IS 'Tickets good to enter.';
COMMENT ON COLUMN finance.events.tickets_consumed IS 'Tickets used.';
COMMENT ON COLUMN finance.events.tickets_expired IS 'Tickets expired, paid or not.';
COMMENT ON COLUMN finance.events.orders_count IS 'Orders, paid or not.';
COMMENT ON COLUMN finance.events.paid_orders IS 'Paid orders.';
COMMENT ON COLUMN finance.events.occupancy_pct IS 'tickets_live / capacity x 100, two decimals; 0 for unlimited.';
COMMENT ON COLUMN finance.events.is_upcoming IS 'Starts after finance.now(), and is not called off.';
COMMENT ON COLUMN finance.events.cancelled_at IS 'When it was called off, UTC; none of its orders and tickets counts.';
COMMENT ON COLUMN finance.events.kept_cents IS 'Of a called off event: what of its paid orders is not given back, cents.';
COMMENT ON COLUMN finance.events.revenue_cents IS 'Sum of total_cents of paid orders minus what was refunded of them, cents; 0 of a called off event.';

CREATE OR REPLACE VIEW finance.promo_redemptions AS
SELECT r.id AS redemption_id, r.promo_code_id, r.customer_id, r.code_type, r.origin, r.tickets, r.subscription_id, r.paid_at, r.redeemed_at,
    (r.redeemed_at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS redeemed_on
FROM promos.redemptions r
WHERE r.redeemed_at IS NOT NULL;
COMMENT ON VIEW finance.promo_redemptions IS 'Redemptions of promo codes, one row a customer and code. Source: promos.redemptions.';
COMMENT ON COLUMN finance.promo_redemptions.redemption_id IS 'Key.';
COMMENT ON COLUMN finance.promo_redemptions.promo_code_id IS 'The promo code; it may have been deleted since.';
COMMENT ON COLUMN finance.promo_redemptions.customer_id IS 'The customer (finance.customers); stays when he is deleted.';
COMMENT ON COLUMN finance.promo_redemptions.code_type IS 'promo or ticket.';
COMMENT ON COLUMN finance.promo_redemptions.origin IS 'target (given at creation), redeem (by the customer), bundle (with a code that holds it), subscription (with a subscription).';
COMMENT ON COLUMN finance.promo_redemptions.tickets IS 'Tickets that it made.';
COMMENT ON COLUMN finance.promo_redemptions.subscription_id IS 'The subscription whose first month it lowered; null for none.';
COMMENT ON COLUMN finance.promo_redemptions.paid_at IS 'When that subscription was paid, UTC.';
COMMENT ON COLUMN finance.promo_redemptions.redeemed_at IS 'Instant, UTC.';
COMMENT ON COLUMN finance.promo_redemptions.redeemed_on IS 'Day of redeemed_at in the report time zone.';

CREATE OR REPLACE VIEW finance.promo_codes AS
SELECT c.id AS promo_code_id, c.title, c.code_type, c.event_id, c.discount_first_month_cents AS first_month_cents, c.bonus_tickets, c.is_active,
    c.is_active AND (c.valid_until IS NULL OR c.valid_until > finance.now()) AS is_usable, c.valid_from, c.valid_until, c.register_date AS created_at,
    r.redemptions, r.paid AS paid_redemptions, r.tickets AS tickets_generated, r.first_at AS first_redeemed_at, r.last_at AS last_redeemed_at
FROM promos.promo_codes c
CROSS JOIN LATERAL (
    SELECT count(*) AS redemptions, count(*) FILTER (WHERE x.paid_at IS NOT NULL) AS paid, coalesce(sum(x.tickets), 0)::bigint AS tickets,
        min(x.redeemed_at) AS first_at, max(x.redeemed_at) AS last_at
    FROM promos.redemptions x WHERE x.promo_code_id = c.id AND x.redeemed_at IS NOT NULL) r;
COMMENT ON VIEW finance.promo_codes IS 'Promo codes and what came of them, one row each, without the texts that redeem them. Source: promos.promo_codes, promos.redemptions.';
COMMENT ON COLUMN finance.promo_codes.promo_code_id IS 'Key.';
COMMENT ON COLUMN finance.promo_codes.title IS 'Title.';
COMMENT ON COLUMN finance.promo_codes.code_type IS 'promo (lowers the first month) or ticket (gives tickets).';
COMMENT ON COLUMN finance.promo_codes.event_id IS 'The event whose tickets it gives; null for promo.';
COMMENT ON COLUMN finance.promo_codes.first_month_cents IS 'What the first month costs with it, cents; null for none.';
COMMENT ON COLUMN finance.promo_codes.bonus_tickets IS 'Tickets of one redemption; null is 1.';
COMMENT ON COLUMN finance.promo_codes.is_active IS 'Switched on.';
COMMENT ON COLUMN finance.promo_codes.is_usable IS 'Switched on and its window not over.';
COMMENT ON COLUMN finance.promo_codes.valid_from IS 'Beginning of its window; null for none.';
COMMENT ON COLUMN finance.promo_codes.valid_until IS 'End of its window; null for none.';
COMMENT ON COLUMN finance.promo_codes.created_at IS 'Instant, UTC.';
COMMENT ON COLUMN finance.promo_codes.redemptions IS 'Redemptions.';
COMMENT ON COLUMN finance.promo_codes.paid_redemptions IS 'Redemptions whose subscription was paid.';
COMMENT ON COLUMN finance.promo_codes.tickets_generated IS 'Tickets that its redemptions made.';
COMMENT ON COLUMN finance.promo_codes.first_redeemed_at IS 'Instant, UTC.';
COMMENT ON COLUMN finance.promo_codes.last_redeemed_at IS 'Instant, UTC.';

CREATE OR REPLACE VIEW finance.promo_codes_personal AS
SELECT c.id AS promo_code_id, c.code, c.target_customer_ids
FROM promos.promo_codes c;
COMMENT ON VIEW finance.promo_codes_personal IS 'PERSONAL DATA: the texts that redeem promo codes, and whom they were given to. Source: promos.promo_codes.';
COMMENT ON COLUMN finance.promo_codes_personal.promo_code_id IS 'Key, as in finance.promo_codes.';
COMMENT ON COLUMN finance.promo_codes_personal.code IS 'Six letters or digits; whoever knows them may redeem.';
COMMENT ON COLUMN finance.promo_codes_personal.target_customer_ids IS 'Customers it was made for.';

CREATE TABLE finance.access_ends (
    transition_id bigint PRIMARY KEY CONSTRAINT access_ends_transition_known REFERENCES subscriptions.transitions (id),
    ended_at      timestamptz NOT NULL
);
COMMENT ON TABLE finance.access_ends IS 'When access really stopped, for moves out of active that were written later than that: the job that closes an expired subscription may be late, and expires_at may move afterwards. Append-only.';
COMMENT ON COLUMN finance.access_ends.ended_at IS 'The expires_at that had passed, yet never before the access began.';

CREATE OR REPLACE VIEW finance.movements AS
SELECT m.movement_id, m.customer_id, m.subscription_id, m.kind, m.at, (m.at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS day,
    CASE WHEN m.kind = 'exit' THEN finance.exit_reason(m.reason) END AS reason,
    CASE m.kind
        WHEN 'entry' THEN coalesce(m.by_renewal AND m.before_reason = 'replaced' AND m.before_subscription <> m.subscription_id, false)
        ELSE coalesce(m.reason = 'replaced' AND m.after_by_renewal AND m.after_subscription <> m.subscription_id, false)
    END AS is_renewal,
    CASE WHEN m.kind = 'entry' AND m.before_subscription = m.subscription_id THEN m.before_at END AS left_at,
    CASE WHEN m.kind = 'entry' AND m.before_subscription = m.subscription_id THEN finance.exit_reason(m.before_reason) END AS left_reason,
    CASE WHEN m.kind = 'exit' AND m.after_subscription = m.subscription_id THEN m.after_at END AS returned_at,
    m.after_at AS next_at
FROM (
    SELECT r.*,
        lag(r.subscription_id) OVER w AS before_subscription, lag(r.reason) OVER w AS before_reason, lag(r.at) OVER w AS before_at,
        lead(r.subscription_id) OVER w AS after_subscription, lead(r.by_renewal) OVER w AS after_by_renewal, lead(r.at) OVER w AS after_at
    FROM (
        SELECT t.id AS movement_id, t.customer_id::text AS customer_id, t.subscription_id::text AS subscription_id,
            CASE WHEN t.to_status = 'active' THEN 'entry' ELSE 'exit' END AS kind, coalesce(a.ended_at, t.at) AS at, t.reason::text AS reason,
            b.subscription_id IS NOT NULL AS by_renewal
        FROM subscriptions.transitions t
        LEFT JOIN finance.access_ends a ON a.transition_id = t.id
        LEFT JOIN subscriptions.transitions b ON b.subscription_id = t.subscription_id AND b.reason = 'renewed' AND b.from_status IS NULL
        WHERE (t.to_status = 'active' OR t.from_status = 'active') AND t.reason <> 'chargeback_withdrawn'
            AND NOT (t.from_status = 'active' AND EXISTS (
                SELECT FROM subscriptions.transitions v
                WHERE v.subscription_id = t.subscription_id AND v.reason = 'chargeback_withdrawn' AND v.id > t.id AND NOT EXISTS (
                    SELECT FROM subscriptions.transitions n WHERE n.subscription_id = t.subscription_id AND n.id > t.id AND n.id < v.id)))
        UNION ALL
        SELECT 9223372036854775807, s.customer_id::text, s.id::text, 'exit', greatest(s.expires_at, e.at),
            CASE WHEN s.cancel_at_period_end THEN 'customer_cancelled' ELSE 'expired' END, false
        FROM subscriptions.subscriptions s
        JOIN LATERAL (SELECT t.at FROM subscriptions.transitions t WHERE t.subscription_id = s.id AND t.to_status = 'active' ORDER BY t.id DESC LIMIT 1) e ON true
        WHERE s.status = 'active' AND s.expires_at IS NOT NULL AND s.expires_at <= finance.now()
    ) r
    WINDOW w AS (PARTITION BY r.customer_id ORDER BY r.movement_id)
) m;
COMMENT ON VIEW finance.movements IS 'Every beginning and end of a customers access, one row each, alternating for each customer; but for what a chargeback entered by mistake ended and its withdrawal began again. Source: subscriptions.transitions into and out of active, finance.access_ends, and subscriptions whose expires_at has passed while their row is still active.';
COMMENT ON COLUMN finance.movements.movement_id IS 'Order in time: the id of the transition; 9223372036854775807 for access that has ended by its date while the row is not closed yet.';
COMMENT ON COLUMN finance.movements.customer_id IS 'The customer (finance.customers); stays when he is deleted.';
COMMENT ON COLUMN finance.movements.subscription_id IS 'The subscription (finance.subscriptions); null when it is not about one.';
COMMENT ON COLUMN finance.movements.kind IS 'entry (access begins) or exit (access stops).';
COMMENT ON COLUMN finance.movements.at IS 'When access began or stopped, UTC: an expired one stops at its expires_at, however late its row is closed.';
COMMENT ON COLUMN finance.movements.day IS 'Day of at in the report time zone.';
COMMENT ON COLUMN finance.movements.reason IS 'Of exits: payment_failure, customer_cancelled, admin_cancelled, chargeback or expired; null for entries.';
COMMENT ON COLUMN finance.movements.is_renewal IS 'The exit of a subscription replaced by a renewal that was paid, or the entry of that renewal: neither is counted.';
COMMENT ON COLUMN finance.movements.left_at IS 'Of the entry of a subscription that comes back: when its access had stopped; null for others.';
COMMENT ON COLUMN finance.movements.left_reason IS 'Why it had stopped.';
COMMENT ON COLUMN finance.movements.returned_at IS 'Of an exit whose subscription came back: when; null for others.';
COMMENT ON COLUMN finance.movements.next_at IS 'The customers next movement; null for his last.';

CREATE OR REPLACE VIEW finance.entries AS
SELECT m.movement_id, m.customer_id, m.subscription_id, m.at, m.day, m.left_at IS NOT NULL AS is_return, m.left_at, m.left_reason,
    m.left_at IS NULL OR (m.left_at AT TIME ZONE z.report_tz)::date <> m.day AS counts_in_day,
    m.left_at IS NULL OR date_trunc('month', m.left_at AT TIME ZONE z.report_tz) <> date_trunc('month', m.at AT TIME ZONE z.report_tz) AS counts_in_month
FROM finance.movements m CROSS JOIN finance.settings z
WHERE m.kind = 'entry' AND NOT m.is_renewal;
COMMENT ON VIEW finance.entries IS 'Access gained, renewals left out. New of a month: rows where counts_in_month. Source: finance.movements.';
COMMENT ON COLUMN finance.entries.movement_id IS 'Order in time: the id of the transition; 9223372036854775807 for access that has ended by its date while the row is not closed yet.';
COMMENT ON COLUMN finance.entries.customer_id IS 'The customer (finance.customers); stays when he is deleted.';
COMMENT ON COLUMN finance.entries.subscription_id IS 'The subscription (finance.subscriptions); null when it is not about one.';
COMMENT ON COLUMN finance.entries.at IS 'Instant, UTC.';
COMMENT ON COLUMN finance.entries.day IS 'Day of at in the report time zone.';
COMMENT ON COLUMN finance.entries.is_return IS 'The subscription had access before and comes back.';
COMMENT ON COLUMN finance.entries.left_at IS 'When its access had stopped; null for others.';
COMMENT ON COLUMN finance.entries.left_reason IS 'Why it had stopped.';
COMMENT ON COLUMN finance.entries.counts_in_day IS 'Counts in the figures of its day: not the return of a subscription that left on the same day.';
COMMENT ON COLUMN finance.entries.counts_in_month IS 'Counts in the figures of its month: not the return of a subscription that left in the same month.';

CREATE OR REPLACE VIEW finance.exits AS
SELECT m.movement_id, m.customer_id, m.subscription_id, m.at, m.day, m.reason, m.returned_at,
    m.returned_at IS NULL OR (m.returned_at AT TIME ZONE z.report_tz)::date <> m.day AS counts_in_day,
    m.returned_at IS NULL OR date_trunc('month', m.returned_at AT TIME ZONE z.report_tz) <> date_trunc('month', m.at AT TIME ZONE z.report_tz) AS counts_in_month
FROM finance.movements m CROSS JOIN finance.settings z
WHERE m.kind = 'exit' AND NOT m.is_renewal;
COMMENT ON VIEW finance.exits IS 'Access lost, renewals left out. Cancelled of a month: rows where counts_in_month. Source: finance.movements.';
COMMENT ON COLUMN finance.exits.movement_id IS 'Order in time: the id of the transition; 9223372036854775807 for access that has ended by its date while the row is not closed yet.';
COMMENT ON COLUMN finance.exits.customer_id IS 'The customer (finance.customers); stays when he is deleted.';
COMMENT ON COLUMN finance.exits.subscription_id IS 'The subscription (finance.subscriptions); null when it is not about one.';
COMMENT ON COLUMN finance.exits.at IS 'When access stopped, UTC.';
COMMENT ON COLUMN finance.exits.day IS 'Day of at in the report time zone.';
COMMENT ON COLUMN finance.exits.reason IS 'Exactly one of payment_failure, customer_cancelled, admin_cancelled, chargeback, expired.';
COMMENT ON COLUMN finance.exits.returned_at IS 'When the same subscription came back; null while it has not.';
COMMENT ON COLUMN finance.exits.counts_in_day IS 'Counts in the figures of its day: it did not come back on the same day.';
COMMENT ON COLUMN finance.exits.counts_in_month IS 'Counts in the figures of its month: it did not come back in the same month.';

CREATE OR REPLACE VIEW finance.access_periods AS
SELECT p.customer_id, p.subscription_id, p.at AS from_at, p.next_at AS until_at
FROM finance.movements p
WHERE p.kind = 'entry';
COMMENT ON VIEW finance.access_periods IS 'Time with access, one row a subscription and stretch; the two sides of a renewal are two rows. Source: finance.movements.';
COMMENT ON COLUMN finance.access_periods.customer_id IS 'The customer (finance.customers); stays when he is deleted.';
COMMENT ON COLUMN finance.access_periods.subscription_id IS 'The subscription (finance.subscriptions); null when it is not about one.';
COMMENT ON COLUMN finance.access_periods.from_at IS 'Beginning, UTC.';
COMMENT ON COLUMN finance.access_periods.until_at IS 'End, UTC; null while it lasts.';

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION finance.grant_analysts() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    role text;
    report text;
BEGIN
    FOREACH role IN ARRAY ARRAY['marquee_analyst', 'marquee_analyst_personal'] LOOP
        CONTINUE WHEN NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role);
        EXECUTE format('GRANT USAGE ON SCHEMA finance TO %I', role);
        EXECUTE format('REVOKE ALL ON ALL TABLES IN SCHEMA finance_internal FROM %I', role);
        EXECUTE format('REVOKE ALL ON SCHEMA finance_internal FROM %I', role);
        FOR report IN SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'finance'::regnamespace AND c.relkind = 'v' LOOP
            IF role = 'marquee_analyst_personal' OR report NOT LIKE '%\_personal' THEN
                EXECUTE format('GRANT SELECT ON finance.%I TO %I', report, role);
            END IF;
        END LOOP;
    END LOOP;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION finance.grant_analysts() IS 'Lets marquee_analyst read every view of this schema but those named …_personal, and marquee_analyst_personal these too. What no analyst reads lies in schema finance_internal. Run by each migration that makes a view, and by an administrator who made the roles themselves.';

CREATE TABLE finance.daily_deltas (
    id                bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at                timestamptz NOT NULL,
    left_at           timestamptz,
    reason            text COLLATE "C",
    gross_gwa_cents   bigint NOT NULL DEFAULT 0,
    gross_gwb_cents   bigint NOT NULL DEFAULT 0,
    payments          bigint NOT NULL DEFAULT 0,
    failed_attempts   bigint NOT NULL DEFAULT 0,
    refunds_cents     bigint NOT NULL DEFAULT 0,
    chargebacks_cents bigint NOT NULL DEFAULT 0,
    entries           bigint NOT NULL DEFAULT 0,
    exits             bigint NOT NULL DEFAULT 0,
    first_at          timestamptz,
    firsts            bigint NOT NULL DEFAULT 0
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 10000);
COMMENT ON TABLE finance.daily_deltas IS 'What transactions changed in the figures by day: inserted by triggers in the same transaction, never updated, taken out by finance.fold. Instants, not days, so that a change of the report time zone leaves them right.';
COMMENT ON COLUMN finance.daily_deltas.at IS 'When it counts.';
COMMENT ON COLUMN finance.daily_deltas.left_at IS 'Of the entry of a subscription that comes back: when its access had stopped.';
COMMENT ON COLUMN finance.daily_deltas.reason IS 'Of exits, and of such entries that of the exit: one of the five reasons.';
COMMENT ON COLUMN finance.daily_deltas.exits IS 'Negative: an exit that a renewal undid.';
COMMENT ON COLUMN finance.daily_deltas.first_at IS 'Of entries and exits: when the customer first had access. Null in what was written before there were cohorts here.';
COMMENT ON COLUMN finance.daily_deltas.firsts IS 'Of the entries, first ones of a customer.';

CREATE TABLE finance.daily_rollup (
    day                                  date PRIMARY KEY,
    gross_gwa_cents                      bigint NOT NULL DEFAULT 0,
    gross_gwb_cents                      bigint NOT NULL DEFAULT 0,
    payments                             bigint NOT NULL DEFAULT 0,
    failed_attempts                      bigint NOT NULL DEFAULT 0,
    refunds_cents                        bigint NOT NULL DEFAULT 0,
    chargebacks_cents                    bigint NOT NULL DEFAULT 0,
    entries                              bigint NOT NULL DEFAULT 0,
    exits_payment_failure                bigint NOT NULL DEFAULT 0,
    exits_customer_cancelled             bigint NOT NULL DEFAULT 0,
    exits_admin_cancelled                bigint NOT NULL DEFAULT 0,
    exits_chargeback                     bigint NOT NULL DEFAULT 0,
    exits_expired                        bigint NOT NULL DEFAULT 0,
    returned_in_day                      bigint NOT NULL DEFAULT 0,
    returned_in_month_payment_failure    bigint NOT NULL DEFAULT 0,
    returned_in_month_customer_cancelled bigint NOT NULL DEFAULT 0,
    returned_in_month_admin_cancelled    bigint NOT NULL DEFAULT 0,
    returned_in_month_chargeback         bigint NOT NULL DEFAULT 0,
    returned_in_month_expired            bigint NOT NULL DEFAULT 0
);
COMMENT ON TABLE finance.daily_rollup IS 'Folded deltas, one row a day in the report time zone. Read finance.daily, which adds what is not folded yet.';

CREATE TABLE finance.return_rollup (
    day      date NOT NULL,
    left_day date NOT NULL,
    returns  bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (day, left_day)
);
COMMENT ON TABLE finance.return_rollup IS 'Folded deltas: subscriptions whose access came back on day and had stopped on left_day, so that both can be left out of any period that holds both. Read finance.returns.';

CREATE TABLE finance.standing_deltas (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    gateway         text COLLATE "C" NOT NULL,
    payment_method  text COLLATE "C" NOT NULL,
    plan_id         text COLLATE "C" NOT NULL,
    active          bigint NOT NULL DEFAULT 0,
    mrr_cents       bigint NOT NULL DEFAULT 0,
    trials          bigint NOT NULL DEFAULT 0,
    trial_mrr_cents bigint NOT NULL DEFAULT 0,
    overdue         bigint NOT NULL DEFAULT 0,
    at_risk_cents   bigint NOT NULL DEFAULT 0,
    customers       bigint NOT NULL DEFAULT 0
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 10000);
COMMENT ON TABLE finance.standing_deltas IS 'What transactions changed in the present figures: inserted by triggers in the same transaction, never updated, taken out by finance.fold. By status alone: expiry by the date is judged when read.';
COMMENT ON COLUMN finance.standing_deltas.gateway IS 'Empty, as method and plan, in rows that count customers.';

CREATE TABLE finance.standing_rollup (
    gateway         text COLLATE "C" NOT NULL,
    payment_method  text COLLATE "C" NOT NULL,
    plan_id         text COLLATE "C" NOT NULL,
    active          bigint NOT NULL DEFAULT 0,
    mrr_cents       bigint NOT NULL DEFAULT 0,
    trials          bigint NOT NULL DEFAULT 0,
    trial_mrr_cents bigint NOT NULL DEFAULT 0,
    overdue         bigint NOT NULL DEFAULT 0,
    at_risk_cents   bigint NOT NULL DEFAULT 0,
    customers       bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (gateway, payment_method, plan_id)
);
COMMENT ON TABLE finance.standing_rollup IS 'Folded deltas, one row a gateway, payment method and plan. Read finance.standing, which adds what is not folded yet and takes off what has expired.';

CREATE TABLE finance.checks (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    checked_at  timestamptz NOT NULL,
    differences bigint NOT NULL,
    examples    jsonb NOT NULL,
    took_ms     bigint NOT NULL
);
COMMENT ON TABLE finance.checks IS 'Nightly comparisons of the rollups with the scan. Every row should say 0 differences.';
COMMENT ON COLUMN finance.checks.examples IS 'Up to 20 of the differences, as rows of finance.rollup_differences.';

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION finance.note_payment() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' AND OLD.purpose = 'subscription' THEN
        INSERT INTO finance.daily_deltas (at, gross_gwa_cents, gross_gwb_cents, payments)
        VALUES (OLD.settled_at, CASE OLD.gateway WHEN 'gwa' THEN -OLD.amount_cents ELSE 0 END, CASE OLD.gateway WHEN 'gwb' THEN -OLD.amount_cents ELSE 0 END, -1);
    END IF;
    IF TG_OP <> 'DELETE' AND NEW.purpose = 'subscription' THEN
        INSERT INTO finance.daily_deltas (at, gross_gwa_cents, gross_gwb_cents, payments)
        VALUES (NEW.settled_at, CASE NEW.gateway WHEN 'gwa' THEN NEW.amount_cents ELSE 0 END, CASE NEW.gateway WHEN 'gwb' THEN NEW.amount_cents ELSE 0 END, 1);
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION finance.note_payment() IS 'Writes what a change of payments.payments means for the figures by day.';
CREATE TRIGGER finance_payment_added AFTER INSERT OR DELETE ON payments.payments FOR EACH ROW EXECUTE FUNCTION finance.note_payment();
CREATE TRIGGER finance_payment_changed AFTER UPDATE OF gateway, purpose, amount_cents, settled_at ON payments.payments FOR EACH ROW
    WHEN ((OLD.gateway, OLD.purpose, OLD.amount_cents, OLD.settled_at) IS DISTINCT FROM (NEW.gateway, NEW.purpose, NEW.amount_cents, NEW.settled_at))
    EXECUTE FUNCTION finance.note_payment();

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION finance.note_failed_attempt() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' AND OLD.purpose = 'subscription' THEN
        INSERT INTO finance.daily_deltas (at, failed_attempts) VALUES (OLD.failed_at, -1);
    END IF;
    IF TG_OP <> 'DELETE' AND NEW.purpose = 'subscription' THEN
        INSERT INTO finance.daily_deltas (at, failed_attempts) VALUES (NEW.failed_at, 1);
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION finance.note_failed_attempt() IS 'Writes what a change of payments.failed_attempts means for the figures by day.';
CREATE TRIGGER finance_failed_attempt_added AFTER INSERT OR DELETE ON payments.failed_attempts FOR EACH ROW EXECUTE FUNCTION finance.note_failed_attempt();
CREATE TRIGGER finance_failed_attempt_changed AFTER UPDATE OF purpose, failed_at ON payments.failed_attempts FOR EACH ROW
    WHEN ((OLD.purpose, OLD.failed_at) IS DISTINCT FROM (NEW.purpose, NEW.failed_at)) EXECUTE FUNCTION finance.note_failed_attempt();

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION finance.note_refund() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' AND OLD.purpose = 'subscription' AND OLD.status = 'done' THEN
        INSERT INTO finance.daily_deltas (at, refunds_cents) VALUES (OLD.refunded_at, -OLD.amount_cents);
    END IF;
    IF TG_OP <> 'DELETE' AND NEW.purpose = 'subscription' AND NEW.status = 'done' THEN
        INSERT INTO finance.daily_deltas (at, refunds_cents) VALUES (NEW.refunded_at, NEW.amount_cents);
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION finance.note_refund() IS 'Writes what a change of payments.refunds means for the figures by day.';
CREATE TRIGGER finance_refund_added AFTER INSERT OR DELETE ON payments.refunds FOR EACH ROW EXECUTE FUNCTION finance.note_refund();
CREATE TRIGGER finance_refund_changed AFTER UPDATE ON payments.refunds FOR EACH ROW
    WHEN ((OLD.purpose, OLD.status, OLD.amount_cents, OLD.refunded_at) IS DISTINCT FROM (NEW.purpose, NEW.status, NEW.amount_cents, NEW.refunded_at))
    EXECUTE FUNCTION finance.note_refund();

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION finance.note_dispute() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' AND OLD.purpose = 'subscription' THEN
        IF OLD.state IN ('open', 'won', 'lost') THEN
            INSERT INTO finance.daily_deltas (at, chargebacks_cents) VALUES (OLD.opened_at, -OLD.amount_cents);
        END IF;
        IF OLD.state = 'won' THEN
            INSERT INTO finance.daily_deltas (at, chargebacks_cents) VALUES (OLD.closed_at, OLD.amount_cents);
        END IF;
    END IF;
    IF TG_OP <> 'DELETE' AND NEW.purpose = 'subscription' THEN
        IF NEW.state IN ('open', 'won', 'lost') THEN
            INSERT INTO finance.daily_deltas (at, chargebacks_cents) VALUES (NEW.opened_at, NEW.amount_cents);
        END IF;
        IF NEW.state = 'won' THEN
            INSERT INTO finance.daily_deltas (at, chargebacks_cents) VALUES (NEW.closed_at, -NEW.amount_cents);
        END IF;
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION finance.note_dispute() IS 'Writes what a change of payments.disputes means for the figures by day.';
CREATE TRIGGER finance_dispute_added AFTER INSERT OR DELETE ON payments.disputes FOR EACH ROW EXECUTE FUNCTION finance.note_dispute();
CREATE TRIGGER finance_dispute_changed AFTER UPDATE ON payments.disputes FOR EACH ROW
    WHEN ((OLD.purpose, OLD.state, OLD.amount_cents, OLD.opened_at, OLD.closed_at) IS DISTINCT FROM (NEW.purpose, NEW.state, NEW.amount_cents, NEW.opened_at, NEW.closed_at))
    EXECUTE FUNCTION finance.note_dispute();

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION finance.note_transition() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    ended timestamptz;
    first_entry timestamptz;
    before record;
BEGIN
    SELECT t.at INTO first_entry FROM subscriptions.transitions t
    WHERE t.customer_id = NEW.customer_id AND t.to_status = 'active' AND t.id <= NEW.id ORDER BY t.id LIMIT 1;
    IF NEW.from_status = 'active' THEN
        SELECT greatest(s.expires_at, e.at) INTO ended
        FROM subscriptions.subscriptions s
        JOIN LATERAL (SELECT t.at FROM subscriptions.transitions t
            WHERE t.subscription_id = s.id AND t.to_status = 'active' AND t.id < NEW.id ORDER BY t.id DESC LIMIT 1) e ON true
        WHERE s.id = NEW.subscription_id AND s.expires_at < NEW.at;
        IF ended < NEW.at THEN
            INSERT INTO finance.access_ends (transition_id, ended_at) VALUES (NEW.id, ended);
        END IF;
        ended := least(ended, NEW.at);
        INSERT INTO finance.daily_deltas (at, first_at, reason, exits) VALUES (ended, first_entry, finance.exit_reason(NEW.reason), 1);
        UPDATE finance.customer_access a
        SET closed_us = a.closed_us + finance.microseconds(a.open_at, ended), last_until = greatest(a.last_until, ended), open_at = NULL
        WHERE a.customer_id = NEW.customer_id AND a.open_at IS NOT NULL;
        RETURN NULL;
    END IF;
    IF NEW.reason = 'chargeback_withdrawn' THEN
        SELECT coalesce(a.ended_at, t.at) AS at, t.reason INTO before
        FROM subscriptions.transitions t LEFT JOIN finance.access_ends a ON a.transition_id = t.id
        WHERE t.subscription_id = NEW.subscription_id AND t.id < NEW.id ORDER BY t.id DESC LIMIT 1;
        INSERT INTO finance.daily_deltas (at, first_at, reason, exits) VALUES (before.at, first_entry, finance.exit_reason(before.reason), -1);
        UPDATE finance.customer_access a SET closed_us = c.closed_us, last_until = c.last_until, open_at = c.open_at
        FROM (
            SELECT coalesce(sum(finance.microseconds(p.at, p.next_at)) FILTER (WHERE p.closed), 0)::bigint AS closed_us,
                max(p.next_at) FILTER (WHERE p.closed) AS last_until, max(p.at) FILTER (WHERE NOT p.closed) AS open_at
            FROM (
                SELECT m.kind, m.at, m.next_at, lead(m.movement_id) OVER (ORDER BY m.movement_id) < 9223372036854775807 IS TRUE AS closed
                FROM finance.movements m WHERE m.customer_id = NEW.customer_id
            ) p
            WHERE p.kind = 'entry'
        ) c
        WHERE a.customer_id = NEW.customer_id;
        RETURN NULL;
    END IF;
    INSERT INTO finance.customer_access AS a (customer_id, first_at, open_at) VALUES (NEW.customer_id, NEW.at, NEW.at)
    ON CONFLICT (customer_id) DO UPDATE
    SET closed_us = a.closed_us + CASE WHEN a.open_at IS NULL THEN 0 ELSE finance.microseconds(a.open_at, NEW.at) END,
        last_until = CASE WHEN a.open_at IS NULL THEN a.last_until ELSE greatest(a.last_until, NEW.at) END,
        first_at = least(a.first_at, NEW.at), open_at = NEW.at;
    SELECT t.subscription_id, t.reason, coalesce(a.ended_at, t.at) AS at INTO before
    FROM subscriptions.transitions t LEFT JOIN finance.access_ends a ON a.transition_id = t.id
    WHERE t.customer_id = NEW.customer_id AND t.id < NEW.id AND (t.from_status = 'active' OR t.to_status = 'active')
    ORDER BY t.id DESC LIMIT 1;
    IF before.subscription_id = NEW.subscription_id THEN
        INSERT INTO finance.daily_deltas (at, first_at, left_at, reason, entries) VALUES (NEW.at, first_entry, before.at, finance.exit_reason(before.reason), 1);
    ELSIF before.reason = 'replaced' AND EXISTS (
        SELECT FROM subscriptions.transitions b WHERE b.subscription_id = NEW.subscription_id AND b.reason = 'renewed' AND b.from_status IS NULL)
    THEN
        INSERT INTO finance.daily_deltas (at, first_at, reason, exits) VALUES (before.at, first_entry, finance.exit_reason(before.reason), -1);
    ELSE
        INSERT INTO finance.daily_deltas (at, first_at, entries, firsts) VALUES (NEW.at, first_entry, 1, (before.subscription_id IS NULL)::int);
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION finance.note_transition() IS 'Writes what a move into or out of active means for the figures by day; finance.movements says the same of all rows. A renewal that is paid undoes the exit of what it replaced, and a chargeback that is withdrawn the exit that it was.';
CREATE TRIGGER finance_transition_added AFTER INSERT ON subscriptions.transitions FOR EACH ROW
    WHEN (NEW.from_status = 'active' OR NEW.to_status = 'active') EXECUTE FUNCTION finance.note_transition();

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION finance.note_subscription() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO finance.standing_deltas (gateway, payment_method, plan_id, active, mrr_cents, trials, trial_mrr_cents, overdue, at_risk_cents)
    SELECT c.gateway, c.payment_method, c.plan_id, sum(c.sign * c.active), sum(c.sign * c.active * c.price_cents), sum(c.sign * c.trial),
        sum(c.sign * c.trial * c.price_cents), sum(c.sign * c.overdue), sum(c.sign * c.overdue * c.price_cents)
    FROM (
        SELECT s.sign, s.gateway, s.payment_method, s.plan_id, s.price_cents,
            (s.status = 'active')::int AS active,
            (s.status = 'active' AND s.trial_days > 0 AND s.last_payment_at IS NULL)::int AS trial,
            ((s.payment_failures > 0 OR s.status = 'suspended') AND s.status NOT IN ('cancelled', 'expired'))::int AS overdue
        FROM (VALUES
            (1, NEW.gateway, NEW.payment_method, NEW.plan_id, NEW.price_cents, NEW.status, NEW.trial_days, NEW.last_payment_at, NEW.payment_failures),
            (-1, OLD.gateway, OLD.payment_method, OLD.plan_id, OLD.price_cents, OLD.status, OLD.trial_days, OLD.last_payment_at, OLD.payment_failures)
        ) AS s (sign, gateway, payment_method, plan_id, price_cents, status, trial_days, last_payment_at, payment_failures)
        WHERE s.gateway IS NOT NULL
    ) c
    GROUP BY c.gateway, c.payment_method, c.plan_id
    HAVING sum(c.sign * c.active) <> 0 OR sum(c.sign * c.active * c.price_cents) <> 0 OR sum(c.sign * c.trial) <> 0
        OR sum(c.sign * c.trial * c.price_cents) <> 0 OR sum(c.sign * c.overdue) <> 0 OR sum(c.sign * c.overdue * c.price_cents) <> 0;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION finance.note_subscription() IS 'Writes what a change of subscriptions.subscriptions means for the present figures. NEW or OLD is all null where there is none.';
CREATE TRIGGER finance_subscription_added AFTER INSERT OR DELETE ON subscriptions.subscriptions FOR EACH ROW EXECUTE FUNCTION finance.note_subscription();
CREATE TRIGGER finance_subscription_changed AFTER UPDATE ON subscriptions.subscriptions FOR EACH ROW
    WHEN ((OLD.gateway, OLD.payment_method, OLD.plan_id, OLD.price_cents, OLD.status, OLD.trial_days, OLD.last_payment_at IS NULL, OLD.payment_failures > 0)
        IS DISTINCT FROM (NEW.gateway, NEW.payment_method, NEW.plan_id, NEW.price_cents, NEW.status, NEW.trial_days, NEW.last_payment_at IS NULL, NEW.payment_failures > 0))
    EXECUTE FUNCTION finance.note_subscription();

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION finance.note_customer() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    change integer := 0;
BEGIN
    IF TG_OP <> 'DELETE' AND NEW.user_type = 'customer' AND NEW.deleted_at IS NULL THEN
        change := 1;
    END IF;
    IF TG_OP <> 'INSERT' AND OLD.user_type = 'customer' AND OLD.deleted_at IS NULL THEN
        change := change - 1;
    END IF;
    IF change <> 0 THEN
        INSERT INTO finance.standing_deltas (gateway, payment_method, plan_id, customers) VALUES ('', '', '', change);
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION finance.note_customer() IS 'Counts customers that are not deleted.';
CREATE TRIGGER finance_customer_added AFTER INSERT OR DELETE ON accounts.users FOR EACH ROW EXECUTE FUNCTION finance.note_customer();
CREATE TRIGGER finance_customer_changed AFTER UPDATE OF user_type, deleted_at ON accounts.users FOR EACH ROW
    WHEN ((OLD.user_type, OLD.deleted_at IS NULL) IS DISTINCT FROM (NEW.user_type, NEW.deleted_at IS NULL)) EXECUTE FUNCTION finance.note_customer();

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

CREATE OR REPLACE VIEW finance.returns AS
SELECT f.day, f.left_day, sum(f.returns)::bigint AS returns
FROM (
    SELECT r.day, r.left_day, r.returns FROM finance.return_rollup r
    UNION ALL
    SELECT (d.at AT TIME ZONE z.report_tz)::date, (d.left_at AT TIME ZONE z.report_tz)::date, d.entries
    FROM finance.daily_deltas d CROSS JOIN finance.settings z WHERE d.left_at IS NOT NULL
) f
GROUP BY f.day, f.left_day;
COMMENT ON VIEW finance.returns IS 'Subscriptions whose access came back, by day and by the day on which it had stopped: what is left out of a period that holds both. Exact at any moment.';
COMMENT ON COLUMN finance.returns.day IS 'Day of the return, in the report time zone.';
COMMENT ON COLUMN finance.returns.left_day IS 'Day on which access had stopped.';
COMMENT ON COLUMN finance.returns.returns IS 'Number.';

CREATE OR REPLACE VIEW finance_internal.return_scan AS
SELECT e.day, (e.left_at AT TIME ZONE z.report_tz)::date AS left_day, count(*) AS returns
FROM finance.entries e CROSS JOIN finance.settings z
WHERE e.left_at IS NOT NULL
GROUP BY 1, 2;
COMMENT ON VIEW finance_internal.return_scan IS 'The same as finance.returns, counted from finance.entries: slow, for checks.';
COMMENT ON COLUMN finance_internal.return_scan.day IS 'Day of the return, in the report time zone.';
COMMENT ON COLUMN finance_internal.return_scan.left_day IS 'Day on which access had stopped.';
COMMENT ON COLUMN finance_internal.return_scan.returns IS 'Number.';

CREATE OR REPLACE VIEW finance.standing AS
SELECT f.gateway, f.payment_method, f.plan_id,
    sum(f.active)::bigint AS active,
    sum(f.mrr_cents)::bigint AS mrr_cents,
    sum(f.trials)::bigint AS trials,
    sum(f.trial_mrr_cents)::bigint AS trial_mrr_cents,
    sum(f.overdue)::bigint AS overdue,
    sum(f.at_risk_cents)::bigint AS at_risk_cents,
    sum(f.customers)::bigint AS customers
FROM (
    SELECT gateway, payment_method, plan_id, active, mrr_cents, trials, trial_mrr_cents, overdue, at_risk_cents, customers FROM finance.standing_rollup
    UNION ALL
    SELECT gateway, payment_method, plan_id, active, mrr_cents, trials, trial_mrr_cents, overdue, at_risk_cents, customers FROM finance.standing_deltas
    UNION ALL
    SELECT s.gateway, s.payment_method, s.plan_id, -1, -s.price_cents, -t.trial, -t.trial * s.price_cents, 0, 0, 0
    FROM subscriptions.subscriptions s
    CROSS JOIN LATERAL (SELECT (s.trial_days > 0 AND s.last_payment_at IS NULL)::int AS trial) t
    WHERE s.status = 'active' AND s.expires_at IS NOT NULL AND s.expires_at <= finance.now()
) f
GROUP BY f.gateway, f.payment_method, f.plan_id;
COMMENT ON VIEW finance.standing IS 'Present figures by gateway, payment method and plan, exact at any moment: the rollup, what is not folded yet, less what has expired by its date.';
COMMENT ON COLUMN finance.standing.gateway IS 'gwa or gwb; empty in the row that counts customers.';
COMMENT ON COLUMN finance.standing.payment_method IS 'credit_card, pix or boleto; empty likewise.';
COMMENT ON COLUMN finance.standing.plan_id IS 'The plan; empty likewise.';
COMMENT ON COLUMN finance.standing.active IS 'Active subscriptions as of finance.now().';
COMMENT ON COLUMN finance.standing.mrr_cents IS 'Sum of their monthly prices, cents.';
COMMENT ON COLUMN finance.standing.trials IS 'Of them, trials.';
COMMENT ON COLUMN finance.standing.trial_mrr_cents IS 'Monthly prices of the trials, cents; part of mrr_cents.';
COMMENT ON COLUMN finance.standing.overdue IS 'Overdue subscriptions.';
COMMENT ON COLUMN finance.standing.at_risk_cents IS 'Sum of their monthly prices, cents.';
COMMENT ON COLUMN finance.standing.customers IS 'Customers that are not deleted; in the row of empty texts alone.';

CREATE OR REPLACE VIEW finance_internal.standing_scan AS
SELECT s.gateway, s.payment_method, s.plan_id,
    count(*) FILTER (WHERE s.is_active) AS active, coalesce(sum(s.price_cents) FILTER (WHERE s.is_active), 0)::bigint AS mrr_cents,
    count(*) FILTER (WHERE s.is_trial) AS trials, coalesce(sum(s.price_cents) FILTER (WHERE s.is_trial), 0)::bigint AS trial_mrr_cents,
    count(*) FILTER (WHERE s.is_overdue) AS overdue, coalesce(sum(s.price_cents) FILTER (WHERE s.is_overdue), 0)::bigint AS at_risk_cents, 0::bigint AS customers
FROM finance.subscriptions s
GROUP BY s.gateway, s.payment_method, s.plan_id
UNION ALL
SELECT '', '', '', 0, 0, 0, 0, 0, 0, count(*) FROM finance.customers c WHERE NOT c.is_deleted;
COMMENT ON VIEW finance_internal.standing_scan IS 'The same as finance.standing, counted from finance.subscriptions and finance.customers: slow, for checks.';
COMMENT ON COLUMN finance_internal.standing_scan.gateway IS 'gwa or gwb; empty in the row that counts customers.';
COMMENT ON COLUMN finance_internal.standing_scan.payment_method IS 'credit_card, pix or boleto; empty likewise.';
COMMENT ON COLUMN finance_internal.standing_scan.plan_id IS 'The plan; empty likewise.';
COMMENT ON COLUMN finance_internal.standing_scan.active IS 'Active subscriptions as of finance.now().';
COMMENT ON COLUMN finance_internal.standing_scan.mrr_cents IS 'Sum of their monthly prices, cents.';
COMMENT ON COLUMN finance_internal.standing_scan.trials IS 'Of them, trials.';
COMMENT ON COLUMN finance_internal.standing_scan.trial_mrr_cents IS 'Monthly prices of the trials, cents; part of mrr_cents.';
COMMENT ON COLUMN finance_internal.standing_scan.overdue IS 'Overdue subscriptions.';
COMMENT ON COLUMN finance_internal.standing_scan.at_risk_cents IS 'Sum of their monthly prices, cents.';
COMMENT ON COLUMN finance_internal.standing_scan.customers IS 'Customers that are not deleted; in the row of empty texts alone.';

CREATE TABLE finance.customer_access (
    customer_id platform.object_id PRIMARY KEY,
    first_at    timestamptz NOT NULL,
    closed_us   bigint NOT NULL DEFAULT 0,
    last_until  timestamptz,
    open_at     timestamptz
);
COMMENT ON TABLE finance.customer_access IS 'How long each customer has had access, kept by the trigger of subscriptions.transitions in the transaction of each move. Read finance.tenure.';
COMMENT ON COLUMN finance.customer_access.closed_us IS 'Sum of the periods of access that have ended, microseconds.';
COMMENT ON COLUMN finance.customer_access.last_until IS 'The latest end of these.';
COMMENT ON COLUMN finance.customer_access.open_at IS 'When the present period began; null without access.';

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION finance.microseconds(since timestamptz, until timestamptz) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$SELECT greatest((date_part('epoch', until - since) * 1000000)::bigint, 0)$$;
-- +goose StatementEnd
COMMENT ON FUNCTION finance.microseconds(timestamptz, timestamptz) IS 'Length of a period of access, at least 0.';

CREATE OR REPLACE VIEW finance.tenure AS
SELECT a.customer_id::text AS customer_id, a.first_at AS first_access_at,
    CASE WHEN a.open_at IS NULL OR x.ended_at IS NOT NULL THEN greatest(a.last_until, x.ended_at) END AS last_access_at,
    a.open_at IS NOT NULL AND x.ended_at IS NULL AS is_active,
    (a.closed_us + CASE WHEN a.open_at IS NULL THEN 0 ELSE finance.microseconds(a.open_at, coalesce(x.ended_at, c.now)) END) / 86400000000 AS access_days
FROM finance.customer_access a
CROSS JOIN (SELECT k.now FROM finance.clock k OFFSET 0) c
LEFT JOIN (SELECT s.customer_id, greatest(s.expires_at, e.at) AS ended_at
    FROM subscriptions.subscriptions s
    JOIN LATERAL (SELECT t.at FROM subscriptions.transitions t WHERE t.subscription_id = s.id AND t.to_status = 'active' ORDER BY t.id DESC LIMIT 1) e ON true
    WHERE s.status = 'active' AND s.expires_at IS NOT NULL AND s.expires_at <= finance.now()) x ON x.customer_id = a.customer_id;
COMMENT ON VIEW finance.tenure IS 'How long each customer who ever had access has had it; exact at any moment. Source: what the moves of subscriptions left behind, a row a customer.';
COMMENT ON COLUMN finance.tenure.customer_id IS 'The customer.';
COMMENT ON COLUMN finance.tenure.first_access_at IS 'When access first began, UTC.';
COMMENT ON COLUMN finance.tenure.last_access_at IS 'When it last stopped, UTC; null while it lasts.';
COMMENT ON COLUMN finance.tenure.is_active IS 'Has access now.';
COMMENT ON COLUMN finance.tenure.access_days IS 'Whole days of access, gaps left out.';

CREATE TABLE finance.cohort_rollup (
    cohort_month date NOT NULL,
    month        date NOT NULL,
    customers    bigint NOT NULL DEFAULT 0,
    change       bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (cohort_month, month)
);
COMMENT ON TABLE finance.cohort_rollup IS 'Folded deltas: by month of the first access, how many more customers of the cohort had access at the end of a month than at its beginning. Read finance.cohorts.';
COMMENT ON COLUMN finance.cohort_rollup.customers IS 'First accesses of the month: in rows of the cohort''s own month alone.';

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION finance.month_of(at timestamptz, zone text) RETURNS date
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$SELECT date_trunc('month', at AT TIME ZONE zone)::date$$;
-- +goose StatementEnd
COMMENT ON FUNCTION finance.month_of(timestamptz, text) IS 'First day of the month in which an instant lies, in a time zone.';

CREATE OR REPLACE VIEW finance.cohort_months AS
SELECT f.cohort_month, f.month, sum(f.customers)::bigint AS customers, sum(f.change)::bigint AS change
FROM (
    SELECT r.cohort_month, r.month, r.customers, r.change FROM finance.cohort_rollup r
    UNION ALL
    SELECT finance.month_of(d.first_at, z.report_tz), finance.month_of(d.at, z.report_tz), d.firsts, d.entries - d.exits
    FROM finance.daily_deltas d CROSS JOIN finance.settings z WHERE d.first_at IS NOT NULL
    UNION ALL
    SELECT finance.month_of(b.at, z.report_tz), finance.month_of(x.ended_at, z.report_tz), 0, -1
    FROM finance.settings z CROSS JOIN (SELECT s.customer_id, greatest(s.expires_at, e.at) AS ended_at
    FROM subscriptions.subscriptions s
    JOIN LATERAL (SELECT t.at FROM subscriptions.transitions t WHERE t.subscription_id = s.id AND t.to_status = 'active' ORDER BY t.id DESC LIMIT 1) e ON true
    WHERE s.status = 'active' AND s.expires_at IS NOT NULL AND s.expires_at <= finance.now()) x
    JOIN LATERAL (SELECT t.at FROM subscriptions.transitions t WHERE t.customer_id = x.customer_id AND t.to_status = 'active' ORDER BY t.id LIMIT 1) b ON true
) f
GROUP BY f.cohort_month, f.month;
COMMENT ON VIEW finance.cohort_months IS 'Customers by the month in which they first had access, and how their number with access changed in each month; exact at any moment. Source: rollup, what is not folded yet, and access that has ended by its date.';
COMMENT ON COLUMN finance.cohort_months.cohort_month IS 'First day of the month of the first access, in the report time zone.';
COMMENT ON COLUMN finance.cohort_months.month IS 'First day of a month since.';
COMMENT ON COLUMN finance.cohort_months.customers IS 'First accesses: in the row of the cohort''s own month.';
COMMENT ON COLUMN finance.cohort_months.change IS 'Entries less exits of the month, renewals left out.';

CREATE OR REPLACE VIEW finance_internal.cohort_scan AS
SELECT m.cohort_month, m.month, count(*) FILTER (WHERE m.is_first)::bigint AS customers, sum(m.change)::bigint AS change
FROM (
    SELECT finance.month_of(first_value(v.at) OVER w, z.report_tz) AS cohort_month, finance.month_of(v.at, z.report_tz) AS month,
        row_number() OVER w = 1 AS is_first, CASE v.kind WHEN 'entry' THEN 1 ELSE -1 END AS change
    FROM finance.movements v CROSS JOIN finance.settings z
    WHERE NOT v.is_renewal
    WINDOW w AS (PARTITION BY v.customer_id ORDER BY v.movement_id)
) m
GROUP BY m.cohort_month, m.month;
COMMENT ON VIEW finance_internal.cohort_scan IS 'The same as finance.cohort_months, counted from finance.movements: slow, for checks.';
COMMENT ON COLUMN finance_internal.cohort_scan.cohort_month IS 'First day of the month of the first access, in the report time zone.';
COMMENT ON COLUMN finance_internal.cohort_scan.month IS 'First day of a month since.';
COMMENT ON COLUMN finance_internal.cohort_scan.customers IS 'First accesses.';
COMMENT ON COLUMN finance_internal.cohort_scan.change IS 'Entries less exits of the month, renewals left out.';

CREATE OR REPLACE VIEW finance_internal.tenure_scan AS
SELECT a.customer_id, min(a.from_at)::timestamptz AS first_access_at,
    CASE WHEN count(*) FILTER (WHERE a.until_at IS NULL) = 0 THEN max(a.until_at) END::timestamptz AS last_access_at,
    count(*) FILTER (WHERE a.until_at IS NULL) > 0 AS is_active,
    floor(sum(extract(epoch FROM greatest(coalesce(a.until_at, finance.now()) - a.from_at, interval '0'))) / 86400)::bigint AS access_days
FROM finance.access_periods a
GROUP BY a.customer_id;
COMMENT ON VIEW finance_internal.tenure_scan IS 'The same as finance.tenure, counted from finance.access_periods: slow, for checks.';
COMMENT ON COLUMN finance_internal.tenure_scan.customer_id IS 'The customer.';
COMMENT ON COLUMN finance_internal.tenure_scan.first_access_at IS 'When access first began, UTC.';
COMMENT ON COLUMN finance_internal.tenure_scan.last_access_at IS 'When it last stopped, UTC; null while it lasts.';
COMMENT ON COLUMN finance_internal.tenure_scan.is_active IS 'Has access now.';
COMMENT ON COLUMN finance_internal.tenure_scan.access_days IS 'Whole days of access, gaps left out.';

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION finance.figure_differences() RETURNS TABLE (rollup text, key text, figure text, kept bigint, counted bigint) LANGUAGE sql STABLE AS $$
SELECT 'daily'::text AS rollup, coalesce(k.day, c.day)::text AS key, v.figure, v.kept, v.counted
FROM finance.daily k FULL JOIN finance_internal.daily_scan c ON c.day = k.day
CROSS JOIN LATERAL (
    SELECT 'gross_gwa_cents'::text AS figure, coalesce(k.gross_gwa_cents, 0) AS kept, coalesce(c.gross_gwa_cents, 0) AS counted
    UNION ALL SELECT 'gross_gwb_cents', coalesce(k.gross_gwb_cents, 0), coalesce(c.gross_gwb_cents, 0)
    UNION ALL SELECT 'payments', coalesce(k.payments, 0), coalesce(c.payments, 0)
    UNION ALL SELECT 'failed_attempts', coalesce(k.failed_attempts, 0), coalesce(c.failed_attempts, 0)
    UNION ALL SELECT 'refunds_cents', coalesce(k.refunds_cents, 0), coalesce(c.refunds_cents, 0)
    UNION ALL SELECT 'chargebacks_cents', coalesce(k.chargebacks_cents, 0), coalesce(c.chargebacks_cents, 0)
    UNION ALL SELECT 'entries', coalesce(k.entries, 0), coalesce(c.entries, 0)
    UNION ALL SELECT 'exits_payment_failure', coalesce(k.exits_payment_failure, 0), coalesce(c.exits_payment_failure, 0)
    UNION ALL SELECT 'exits_customer_cancelled', coalesce(k.exits_customer_cancelled, 0), coalesce(c.exits_customer_cancelled, 0)
    UNION ALL SELECT 'exits_admin_cancelled', coalesce(k.exits_admin_cancelled, 0), coalesce(c.exits_admin_cancelled, 0)
    UNION ALL SELECT 'exits_chargeback', coalesce(k.exits_chargeback, 0), coalesce(c.exits_chargeback, 0)
    UNION ALL SELECT 'exits_expired', coalesce(k.exits_expired, 0), coalesce(c.exits_expired, 0)
    UNION ALL SELECT 'returned_in_day', coalesce(k.returned_in_day, 0), coalesce(c.returned_in_day, 0)
    UNION ALL SELECT 'returned_in_month_payment_failure', coalesce(k.returned_in_month_payment_failure, 0), coalesce(c.returned_in_month_payment_failure, 0)
    UNION ALL SELECT 'returned_in_month_customer_cancelled', coalesce(k.returned_in_month_customer_cancelled, 0), coalesce(c.returned_in_month_customer_cancelled, 0)
    UNION ALL SELECT 'returned_in_month_admin_cancelled', coalesce(k.returned_in_month_admin_cancelled, 0), coalesce(c.returned_in_month_admin_cancelled, 0)
    UNION ALL SELECT 'returned_in_month_chargeback', coalesce(k.returned_in_month_chargeback, 0), coalesce(c.returned_in_month_chargeback, 0)
    UNION ALL SELECT 'returned_in_month_expired', coalesce(k.returned_in_month_expired, 0), coalesce(c.returned_in_month_expired, 0)
) v
WHERE v.kept <> v.counted
UNION ALL
SELECT 'returns', coalesce(k.day, c.day)::text || ' after ' || coalesce(k.left_day, c.left_day)::text, 'returns', coalesce(k.returns, 0), coalesce(c.returns, 0)
FROM finance.returns k FULL JOIN finance_internal.return_scan c ON c.day = k.day AND c.left_day = k.left_day
WHERE coalesce(k.returns, 0) <> coalesce(c.returns, 0)
UNION ALL
SELECT 'standing', concat_ws(' ', coalesce(k.gateway, c.gateway), coalesce(k.payment_method, c.payment_method), coalesce(k.plan_id, c.plan_id)), v.figure, v.kept, v.counted
FROM finance.standing k FULL JOIN finance_internal.standing_scan c ON c.gateway = k.gateway AND c.payment_method = k.payment_method AND c.plan_id = k.plan_id
CROSS JOIN LATERAL (
    SELECT 'active'::text AS figure, coalesce(k.active, 0) AS kept, coalesce(c.active, 0) AS counted
    UNION ALL SELECT 'mrr_cents', coalesce(k.mrr_cents, 0), coalesce(c.mrr_cents, 0)
    UNION ALL SELECT 'trials', coalesce(k.trials, 0), coalesce(c.trials, 0)
    UNION ALL SELECT 'trial_mrr_cents', coalesce(k.trial_mrr_cents, 0), coalesce(c.trial_mrr_cents, 0)
    UNION ALL SELECT 'overdue', coalesce(k.overdue, 0), coalesce(c.overdue, 0)
    UNION ALL SELECT 'at_risk_cents', coalesce(k.at_risk_cents, 0), coalesce(c.at_risk_cents, 0)
    UNION ALL SELECT 'customers', coalesce(k.customers, 0), coalesce(c.customers, 0)
) v
WHERE v.kept <> v.counted
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION finance.figure_differences() IS 'The part of finance.rollup_differences for figures by day and present figures.';

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

-- It sorts whole ledgers, and there is one of it at a time: hence the work_mem.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION finance.rollup_differences() RETURNS TABLE (rollup text, key text, figure text, kept bigint, counted bigint) LANGUAGE sql STABLE SET work_mem = '128MB' AS $$
SELECT * FROM finance.figure_differences()
UNION ALL
SELECT 'cohorts', coalesce(k.cohort_month, c.cohort_month) || ' in ' || coalesce(k.month, c.month), v.figure, v.kept, v.counted
FROM finance.cohort_months k FULL JOIN finance_internal.cohort_scan c ON c.cohort_month = k.cohort_month AND c.month = k.month
CROSS JOIN LATERAL (
    SELECT 'customers'::text AS figure, coalesce(k.customers, 0) AS kept, coalesce(c.customers, 0) AS counted
    UNION ALL SELECT 'change', coalesce(k.change, 0), coalesce(c.change, 0)
) v
WHERE v.kept <> v.counted
UNION ALL
SELECT 'tenure', coalesce(k.customer_id, c.customer_id), 'access_days', k.access_days, c.access_days
FROM finance.tenure k FULL JOIN finance_internal.tenure_scan c ON c.customer_id = k.customer_id
WHERE (k.first_access_at, k.last_access_at, k.is_active, k.access_days) IS DISTINCT FROM (c.first_access_at, c.last_access_at, c.is_active, c.access_days)
UNION ALL
SELECT 'dues', coalesce(k.subscription_id, c.subscription_id), 'otherwise_on', k.otherwise_on - date '2000-01-01', c.otherwise_on - date '2000-01-01'
FROM (SELECT d.subscription_id, d.next_billing_date, nullif(d.otherwise_on, 'infinity') AS otherwise_on FROM finance.dues d) k
FULL JOIN (SELECT d.subscription_id, d.next_billing_date, nullif(d.otherwise_on, 'infinity') AS otherwise_on FROM finance_internal.due_scan d) c ON c.subscription_id = k.subscription_id
WHERE (k.subscription_id, k.next_billing_date, k.otherwise_on) IS DISTINCT FROM (c.subscription_id, c.next_billing_date, c.otherwise_on)
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION finance.rollup_differences() IS 'Where what is kept differs from the scan, by rollup (daily, returns, standing, cohorts, tenure, dues), row and column: what is kept and what the ledgers say. Empty at any moment; slow.';

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION finance.fold(at_most integer) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    folded bigint;
    more bigint;
BEGIN
    -- Whoever folds, folds alone; the figures are right meanwhile, folded or not.
    IF NOT pg_try_advisory_xact_lock(hashtextextended('finance.fold', 0)) THEN
        RETURN 0;
    END IF;
    WITH gone AS (
        DELETE FROM finance.daily_deltas WHERE id IN (SELECT id FROM finance.daily_deltas ORDER BY id LIMIT at_most) RETURNING *
    ), days AS (
        INSERT INTO finance.daily_rollup AS r (day,
            gross_gwa_cents, gross_gwb_cents, payments, failed_attempts, refunds_cents, chargebacks_cents, entries, exits_payment_failure,
            exits_customer_cancelled, exits_admin_cancelled, exits_chargeback, exits_expired, returned_in_day, returned_in_month_payment_failure,
            returned_in_month_customer_cancelled, returned_in_month_admin_cancelled, returned_in_month_chargeback, returned_in_month_expired)
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
        FROM gone d CROSS JOIN finance.settings z
        GROUP BY 1
        ON CONFLICT (day) DO UPDATE SET
            gross_gwa_cents = r.gross_gwa_cents + excluded.gross_gwa_cents,
            gross_gwb_cents = r.gross_gwb_cents + excluded.gross_gwb_cents,
            payments = r.payments + excluded.payments,
            failed_attempts = r.failed_attempts + excluded.failed_attempts,
            refunds_cents = r.refunds_cents + excluded.refunds_cents,
            chargebacks_cents = r.chargebacks_cents + excluded.chargebacks_cents,
            entries = r.entries + excluded.entries,
            exits_payment_failure = r.exits_payment_failure + excluded.exits_payment_failure,
            exits_customer_cancelled = r.exits_customer_cancelled + excluded.exits_customer_cancelled,
            exits_admin_cancelled = r.exits_admin_cancelled + excluded.exits_admin_cancelled,
            exits_chargeback = r.exits_chargeback + excluded.exits_chargeback,
            exits_expired = r.exits_expired + excluded.exits_expired,
            returned_in_day = r.returned_in_day + excluded.returned_in_day,
            returned_in_month_payment_failure = r.returned_in_month_payment_failure + excluded.returned_in_month_payment_failure,
            returned_in_month_customer_cancelled = r.returned_in_month_customer_cancelled + excluded.returned_in_month_customer_cancelled,
            returned_in_month_admin_cancelled = r.returned_in_month_admin_cancelled + excluded.returned_in_month_admin_cancelled,
            returned_in_month_chargeback = r.returned_in_month_chargeback + excluded.returned_in_month_chargeback,
            returned_in_month_expired = r.returned_in_month_expired + excluded.returned_in_month_expired
    ), returned AS (
        INSERT INTO finance.return_rollup AS r (day, left_day, returns)
        SELECT (d.at AT TIME ZONE z.report_tz)::date, (d.left_at AT TIME ZONE z.report_tz)::date, sum(d.entries)
        FROM gone d CROSS JOIN finance.settings z WHERE d.left_at IS NOT NULL
        GROUP BY 1, 2
        ON CONFLICT (day, left_day) DO UPDATE SET returns = r.returns + excluded.returns
    ), cohorts AS (
        INSERT INTO finance.cohort_rollup AS r (cohort_month, month, customers, change)
        SELECT finance.month_of(d.first_at, z.report_tz), finance.month_of(d.at, z.report_tz), sum(d.firsts), sum(d.entries - d.exits)
        FROM gone d CROSS JOIN finance.settings z WHERE d.first_at IS NOT NULL
        GROUP BY 1, 2
        ON CONFLICT (cohort_month, month) DO UPDATE SET customers = r.customers + excluded.customers, change = r.change + excluded.change
    )
    SELECT count(*) INTO folded FROM gone;
    WITH gone AS (
        DELETE FROM finance.standing_deltas WHERE id IN (SELECT id FROM finance.standing_deltas ORDER BY id LIMIT at_most) RETURNING *
    ), present AS (
        INSERT INTO finance.standing_rollup AS r (gateway, payment_method, plan_id, active, mrr_cents, trials, trial_mrr_cents, overdue, at_risk_cents, customers)
        SELECT d.gateway, d.payment_method, d.plan_id, sum(d.active), sum(d.mrr_cents), sum(d.trials), sum(d.trial_mrr_cents), sum(d.overdue), sum(d.at_risk_cents), sum(d.customers)
        FROM gone d
        GROUP BY d.gateway, d.payment_method, d.plan_id
        ON CONFLICT (gateway, payment_method, plan_id) DO UPDATE SET
            active = r.active + excluded.active,
            mrr_cents = r.mrr_cents + excluded.mrr_cents,
            trials = r.trials + excluded.trials,
            trial_mrr_cents = r.trial_mrr_cents + excluded.trial_mrr_cents,
            overdue = r.overdue + excluded.overdue,
            at_risk_cents = r.at_risk_cents + excluded.at_risk_cents,
            customers = r.customers + excluded.customers
    )
    SELECT count(*) INTO more FROM gone;
    RETURN folded + more;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION finance.fold(integer) IS 'Moves the oldest deltas, at most so many of each kind, into the rollups, and returns how many there were; 0 also while somebody else folds. No figure changes by it.';

-- It sorts whole ledgers, and there is one of it at a time: hence the work_mem.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION finance.rebuild() RETURNS void LANGUAGE plpgsql SET work_mem = '128MB' AS $$
BEGIN
    PERFORM finance.rebuild_figures();
    INSERT INTO finance.cohort_rollup AS r (cohort_month, month, customers, change)
    SELECT f.cohort_month, f.month, sum(f.customers), sum(f.change)
    FROM (
        SELECT c.cohort_month, c.month, c.customers, c.change FROM finance_internal.cohort_scan c
        UNION ALL
        SELECT k.cohort_month, k.month, -k.customers, -k.change FROM finance.cohort_months k
    ) f
    GROUP BY f.cohort_month, f.month
    HAVING sum(f.customers) <> 0 OR sum(f.change) <> 0
    ON CONFLICT (cohort_month, month) DO UPDATE SET customers = r.customers + excluded.customers, change = r.change + excluded.change;
    -- Rows and not differences: moves under way wait for the end, and then begin from what is written here.
    LOCK TABLE finance.customer_access IN SHARE ROW EXCLUSIVE MODE;
    CREATE TEMPORARY TABLE access_counted ON COMMIT DROP AS
    SELECT p.customer_id, min(p.at) AS first_at, coalesce(sum(finance.microseconds(p.at, p.next_at)) FILTER (WHERE p.closed), 0)::bigint AS closed_us,
        max(p.next_at) FILTER (WHERE p.closed) AS last_until, max(p.at) FILTER (WHERE NOT p.closed) AS open_at
    FROM (
        SELECT m.customer_id, m.kind, m.at, m.next_at, lead(m.movement_id) OVER (PARTITION BY m.customer_id ORDER BY m.movement_id) < 9223372036854775807 IS TRUE AS closed
        FROM finance.movements m
    ) p
    WHERE p.kind = 'entry'
    GROUP BY p.customer_id;
    DELETE FROM finance.customer_access a WHERE NOT EXISTS (SELECT FROM access_counted c WHERE c.customer_id = a.customer_id);
    INSERT INTO finance.customer_access AS a (customer_id, first_at, closed_us, last_until, open_at)
    SELECT c.customer_id, c.first_at, c.closed_us, c.last_until, c.open_at FROM access_counted c
    ON CONFLICT (customer_id) DO UPDATE
    SET first_at = excluded.first_at, closed_us = excluded.closed_us, last_until = excluded.last_until, open_at = excluded.open_at
    WHERE (a.first_at, a.closed_us, a.last_until, a.open_at) IS DISTINCT FROM (excluded.first_at, excluded.closed_us, excluded.last_until, excluded.open_at);
    DROP TABLE access_counted;
    LOCK TABLE finance.dues IN SHARE ROW EXCLUSIVE MODE;
    DELETE FROM finance.dues d WHERE NOT EXISTS (SELECT FROM finance_internal.due_scan c WHERE c.subscription_id = d.subscription_id);
    INSERT INTO finance.dues AS d (subscription_id, next_billing_date, otherwise_on)
    SELECT c.subscription_id, c.next_billing_date, c.otherwise_on FROM finance_internal.due_scan c
    ON CONFLICT (subscription_id) DO UPDATE SET next_billing_date = excluded.next_billing_date, otherwise_on = excluded.otherwise_on
    WHERE (d.next_billing_date, d.otherwise_on) IS DISTINCT FROM (excluded.next_billing_date, excluded.otherwise_on);
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION finance.rebuild() IS 'Makes what is kept equal the scan: after rows were loaded with the triggers off, or when a check found differences. Reads every ledger whole; figures stay readable meanwhile, moves of subscriptions wait at the end.';

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION finance.use_report_tz(zone text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    IF (SELECT report_tz FROM finance.settings) = zone THEN
        RETURN false;
    END IF;
    PERFORM now() AT TIME ZONE zone; -- an unknown zone is refused here
    PERFORM pg_advisory_xact_lock(hashtextextended('finance.fold', 0));
    UPDATE finance.settings SET report_tz = zone;
    DELETE FROM finance.daily_rollup;
    DELETE FROM finance.return_rollup;
    DELETE FROM finance.cohort_rollup;
    PERFORM finance.rebuild();
    RETURN true;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION finance.use_report_tz(text) IS 'Changes the time zone of days and months and counts the rollups anew under it; true when it was another.';

CREATE OR REPLACE VIEW finance.mrr AS
SELECT s.gateway, s.payment_method, s.plan_id, p.name AS plan_name, s.active AS active_subscriptions, s.mrr_cents, s.trials, s.trial_mrr_cents,
    s.overdue AS overdue_subscriptions, s.at_risk_cents
FROM finance.standing s
JOIN subscriptions.plans p ON p.plan_id = s.plan_id
WHERE s.active <> 0 OR s.overdue <> 0;
COMMENT ON VIEW finance.mrr IS 'Present monthly recurring revenue, one row a gateway, payment method and plan; exact at any moment. A yearly PIX counts its monthly price once; the first-month discount does not lower it. Source: finance.standing.';
COMMENT ON COLUMN finance.mrr.gateway IS 'gwa or gwb.';
COMMENT ON COLUMN finance.mrr.payment_method IS 'credit_card, pix or boleto.';
COMMENT ON COLUMN finance.mrr.plan_id IS 'The plan.';
COMMENT ON COLUMN finance.mrr.plan_name IS 'Its present name.';
COMMENT ON COLUMN finance.mrr.active_subscriptions IS 'Active subscriptions, trials among them.';
COMMENT ON COLUMN finance.mrr.mrr_cents IS 'Sum of their monthly prices as they were sold, cents.';
COMMENT ON COLUMN finance.mrr.trials IS 'Of them, trials: nothing has been paid yet.';
COMMENT ON COLUMN finance.mrr.trial_mrr_cents IS 'Monthly prices of the trials, cents; part of mrr_cents.';
COMMENT ON COLUMN finance.mrr.overdue_subscriptions IS 'Overdue subscriptions, active or suspended.';
COMMENT ON COLUMN finance.mrr.at_risk_cents IS 'Sum of their monthly prices, cents.';

CREATE OR REPLACE VIEW finance.overview AS
SELECT n.mrr_cents, n.mrr_gwa_cents, n.mrr_gwb_cents, n.trial_mrr_cents, n.mrr_cents * 12 AS arr_cents,
    CASE WHEN n.active = 0 THEN 0 ELSE round(n.mrr_cents::numeric / n.active) END::bigint AS average_ticket_cents,
    n.active AS active_subscriptions, n.trials, n.customers AS total_customers, n.overdue AS overdue_count, n.at_risk_cents AS amount_at_risk_cents,
    d.exits_30d - r.returns_30d AS exits_30d, d.active_30d_ago,
    CASE WHEN d.active_30d_ago = 0 THEN 0 ELSE round(100.0 * (d.exits_30d - r.returns_30d) / d.active_30d_ago, 2) END::numeric AS churn_rate_30d,
    d.total_refunded_cents, d.total_chargebacks_cents, d.gross_30d_cents, d.refunds_30d_cents, d.chargebacks_30d_cents,
    n.mrr_cents - d.refunds_30d_cents AS net_revenue_30d_cents, d.gross_30d_cents - d.refunds_30d_cents - d.chargebacks_30d_cents AS cash_net_30d_cents,
    d.payments_30d, d.failed_attempts_30d,
    CASE WHEN d.payments_30d + d.failed_attempts_30d = 0 THEN 0
         ELSE round(100.0 * d.payments_30d / (d.payments_30d + d.failed_attempts_30d), 2) END::numeric AS payment_success_rate
FROM (
    SELECT coalesce(sum(s.mrr_cents), 0)::bigint AS mrr_cents,
        coalesce(sum(s.mrr_cents) FILTER (WHERE s.gateway = 'gwa'), 0)::bigint AS mrr_gwa_cents,
        coalesce(sum(s.mrr_cents) FILTER (WHERE s.gateway = 'gwb'), 0)::bigint AS mrr_gwb_cents,
        coalesce(sum(s.trial_mrr_cents), 0)::bigint AS trial_mrr_cents, coalesce(sum(s.active), 0)::bigint AS active, coalesce(sum(s.trials), 0)::bigint AS trials,
        coalesce(sum(s.overdue), 0)::bigint AS overdue, coalesce(sum(s.at_risk_cents), 0)::bigint AS at_risk_cents, coalesce(sum(s.customers), 0)::bigint AS customers
    FROM finance.standing s
) n
CROSS JOIN (
    SELECT coalesce(sum(f.refunds_cents), 0)::bigint AS total_refunded_cents, coalesce(sum(f.chargebacks_cents), 0)::bigint AS total_chargebacks_cents,
        coalesce(sum(f.gross_gwa_cents + f.gross_gwb_cents) FILTER (WHERE f.day >= c.since), 0)::bigint AS gross_30d_cents,
        coalesce(sum(f.refunds_cents) FILTER (WHERE f.day >= c.since), 0)::bigint AS refunds_30d_cents,
        coalesce(sum(f.chargebacks_cents) FILTER (WHERE f.day >= c.since), 0)::bigint AS chargebacks_30d_cents,
        coalesce(sum(f.payments) FILTER (WHERE f.day >= c.since), 0)::bigint AS payments_30d,
        coalesce(sum(f.failed_attempts) FILTER (WHERE f.day >= c.since), 0)::bigint AS failed_attempts_30d,
        coalesce(sum(f.exits_payment_failure + f.exits_customer_cancelled + f.exits_admin_cancelled + f.exits_chargeback + f.exits_expired)
            FILTER (WHERE f.day >= c.since), 0)::bigint AS exits_30d,
        coalesce(sum(f.entries - f.exits_payment_failure - f.exits_customer_cancelled - f.exits_admin_cancelled - f.exits_chargeback - f.exits_expired)
            FILTER (WHERE f.day < c.since), 0)::bigint AS active_30d_ago
    FROM finance_internal.daily_parts f CROSS JOIN (SELECT k.today - 30 AS since FROM finance.clock k OFFSET 0) c
) d
CROSS JOIN (
    SELECT coalesce(sum(b.returns), 0)::bigint AS returns_30d
    FROM finance.returns b CROSS JOIN (SELECT k.today - 30 AS since FROM finance.clock k OFFSET 0) c
    WHERE b.day >= c.since AND b.left_day >= c.since
) r;
COMMENT ON VIEW finance.overview IS 'One row: the figures of GET /api/v1/admin/finance/overview, exact at any moment. The last 30 days begin at midnight of the day 30 days ago, in the report time zone, and end now. Source: finance.standing, finance.daily, finance.returns.';
COMMENT ON COLUMN finance.overview.mrr_cents IS 'Sum over active subscriptions of the monthly price as it was sold, cents.';
COMMENT ON COLUMN finance.overview.mrr_gwa_cents IS 'The part of gateway A, cents.';
COMMENT ON COLUMN finance.overview.mrr_gwb_cents IS 'The part of gateway B, cents.';
COMMENT ON COLUMN finance.overview.trial_mrr_cents IS 'The part of trials, cents.';
COMMENT ON COLUMN finance.overview.arr_cents IS 'mrr_cents x 12.';
COMMENT ON COLUMN finance.overview.average_ticket_cents IS 'mrr_cents / active_subscriptions, rounded half up, cents.';
COMMENT ON COLUMN finance.overview.active_subscriptions IS 'status active, and expires_at null or in the future.';
COMMENT ON COLUMN finance.overview.trials IS 'Of them, trials.';
COMMENT ON COLUMN finance.overview.total_customers IS 'Customers that are not deleted.';
COMMENT ON COLUMN finance.overview.overdue_count IS 'Subscriptions with payment_failures > 0 or suspended, neither cancelled nor expired.';
COMMENT ON COLUMN finance.overview.amount_at_risk_cents IS 'Sum of the monthly prices of the overdue, cents.';
COMMENT ON COLUMN finance.overview.exits_30d IS 'Customers whose access stopped in the last 30 days, without those whose subscription came back within them.';
COMMENT ON COLUMN finance.overview.active_30d_ago IS 'Active customers at the beginning of the last 30 days.';
COMMENT ON COLUMN finance.overview.churn_rate_30d IS 'exits_30d / active_30d_ago x 100, percent, two decimals.';
COMMENT ON COLUMN finance.overview.total_refunded_cents IS 'Refunds of subscriptions, all time, cents.';
COMMENT ON COLUMN finance.overview.total_chargebacks_cents IS 'Chargebacks of subscriptions less what won disputes gave back, all time, cents.';
COMMENT ON COLUMN finance.overview.gross_30d_cents IS 'Gross of the last 30 days, cents.';
COMMENT ON COLUMN finance.overview.refunds_30d_cents IS 'Refunds of the last 30 days, cents.';
COMMENT ON COLUMN finance.overview.chargebacks_30d_cents IS 'Chargebacks of the last 30 days, cents.';
COMMENT ON COLUMN finance.overview.net_revenue_30d_cents IS 'mrr_cents - refunds_30d_cents.';
COMMENT ON COLUMN finance.overview.cash_net_30d_cents IS 'gross_30d_cents - refunds_30d_cents - chargebacks_30d_cents.';
COMMENT ON COLUMN finance.overview.payments_30d IS 'Settled attempts of the last 30 days.';
COMMENT ON COLUMN finance.overview.failed_attempts_30d IS 'Failed attempts of the last 30 days.';
COMMENT ON COLUMN finance.overview.payment_success_rate IS 'payments_30d / (payments_30d + failed_attempts_30d) x 100, percent, two decimals.';

CREATE OR REPLACE VIEW finance.revenue_daily AS
SELECT p.day, sum(p.gross_gwa_cents + p.gross_gwb_cents)::bigint AS gross_cents, sum(p.gross_gwa_cents)::bigint AS gross_gwa_cents, sum(p.gross_gwb_cents)::bigint AS gross_gwb_cents,
    sum(p.refunds_cents)::bigint AS refunds_cents, sum(p.chargebacks_cents)::bigint AS chargebacks_cents,
    sum(p.gross_gwa_cents + p.gross_gwb_cents - p.refunds_cents - p.chargebacks_cents)::bigint AS net_cents,
    sum(p.entries - p.returned_in_day)::bigint AS new_subscriptions,
    sum(p.exits - p.returned_in_day)::bigint AS cancellations
FROM (
    SELECT d.day, d.gross_gwa_cents, d.gross_gwb_cents, d.refunds_cents, d.chargebacks_cents, d.entries, d.returned_in_day,
        d.exits_payment_failure + d.exits_customer_cancelled + d.exits_admin_cancelled + d.exits_chargeback + d.exits_expired AS exits
    FROM finance_internal.daily_parts d
    UNION ALL
    SELECT g.day::date, 0, 0, 0, 0, 0, 0, 0
    FROM (SELECT min(b.day) AS first_day, max(b.day) AS last_day FROM finance_internal.daily_parts b) e CROSS JOIN finance.clock c
    CROSS JOIN LATERAL generate_series(e.first_day::timestamp, greatest(c.today, e.last_day)::timestamp, interval '1 day') AS g (day)
) p
GROUP BY p.day;
COMMENT ON VIEW finance.revenue_daily IS 'Cash by day, one row for each day from the first on, exact at any moment. Source: finance.daily.';
COMMENT ON COLUMN finance.revenue_daily.day IS 'Day in the report time zone.';
COMMENT ON COLUMN finance.revenue_daily.gross_cents IS 'Subscription payments settled on the day, cents, once per gateway payment.';
COMMENT ON COLUMN finance.revenue_daily.gross_gwa_cents IS 'The part of gateway A, cents.';
COMMENT ON COLUMN finance.revenue_daily.gross_gwb_cents IS 'The part of gateway B, cents.';
COMMENT ON COLUMN finance.revenue_daily.refunds_cents IS 'Given back on the day, cents.';
COMMENT ON COLUMN finance.revenue_daily.chargebacks_cents IS 'Taken by disputes opened on the day less what was given back by those won on it, cents; may be negative.';
COMMENT ON COLUMN finance.revenue_daily.net_cents IS 'gross - refunds - chargebacks, cents; may be negative.';
COMMENT ON COLUMN finance.revenue_daily.new_subscriptions IS 'Customers who gained access, without those whose subscription had left on the same day.';
COMMENT ON COLUMN finance.revenue_daily.cancellations IS 'Customers who lost access, without those whose subscription came back on the same day.';

CREATE OR REPLACE VIEW finance.churn_monthly AS
SELECT m.month, (sum(m.entries - m.exits) OVER w - m.entries + m.exits)::bigint AS active_start,
    m.entries - m.returned AS new_customers, m.exits - m.returned AS cancelled,
    (sum(m.entries - m.exits) OVER w)::bigint AS active_end,
    CASE WHEN sum(m.entries - m.exits) OVER w - m.entries + m.exits = 0 THEN 0
         ELSE round(100.0 * (m.exits - m.returned) / (sum(m.entries - m.exits) OVER w - m.entries + m.exits), 2) END::numeric AS churn_rate,
    m.payment_failure, m.customer_cancelled, m.admin_cancelled, m.chargeback, m.expired
FROM (
    SELECT k.month, coalesce(f.entries, 0) AS entries, coalesce(f.exits, 0) AS exits, coalesce(f.returned, 0) AS returned,
        coalesce(f.payment_failure, 0) AS payment_failure, coalesce(f.customer_cancelled, 0) AS customer_cancelled,
        coalesce(f.admin_cancelled, 0) AS admin_cancelled, coalesce(f.chargeback, 0) AS chargeback, coalesce(f.expired, 0) AS expired
    FROM (
        SELECT g.month::date AS month
        FROM (SELECT min(b.day) AS first_day, max(b.day) AS last_day FROM finance_internal.daily_parts b) e CROSS JOIN finance.clock c
        CROSS JOIN LATERAL generate_series(date_trunc('month', e.first_day::timestamp), greatest(c.today, e.last_day)::timestamp, interval '1 month') AS g (month)
    ) k
    LEFT JOIN (
        SELECT date_trunc('month', d.day::timestamp)::date AS month, sum(d.entries)::bigint AS entries,
            sum(d.exits_payment_failure + d.exits_customer_cancelled + d.exits_admin_cancelled + d.exits_chargeback + d.exits_expired)::bigint AS exits,
            sum(d.returned_in_month_payment_failure + d.returned_in_month_customer_cancelled + d.returned_in_month_admin_cancelled
                + d.returned_in_month_chargeback + d.returned_in_month_expired)::bigint AS returned,
            sum(d.exits_payment_failure - d.returned_in_month_payment_failure)::bigint AS payment_failure,
            sum(d.exits_customer_cancelled - d.returned_in_month_customer_cancelled)::bigint AS customer_cancelled,
            sum(d.exits_admin_cancelled - d.returned_in_month_admin_cancelled)::bigint AS admin_cancelled,
            sum(d.exits_chargeback - d.returned_in_month_chargeback)::bigint AS chargeback,
            sum(d.exits_expired - d.returned_in_month_expired)::bigint AS expired
        FROM finance_internal.daily_parts d
        GROUP BY 1
    ) f ON f.month = k.month
) m
WINDOW w AS (ORDER BY m.month);
COMMENT ON VIEW finance.churn_monthly IS 'Churn by month, one row for each month from the first on, exact at any moment; the unit is the customer. active_end = active_start + new_customers - cancelled in every row, and the five reasons add up to cancelled. Source: finance.daily.';
COMMENT ON COLUMN finance.churn_monthly.month IS 'First day of the month, in the report time zone.';
COMMENT ON COLUMN finance.churn_monthly.active_start IS 'Customers with access at its beginning.';
COMMENT ON COLUMN finance.churn_monthly.new_customers IS 'Customers who gained access, without those whose subscription had left in the same month.';
COMMENT ON COLUMN finance.churn_monthly.cancelled IS 'Customers who lost access, without those whose subscription came back in the same month. Somebody who joins and leaves counts in both.';
COMMENT ON COLUMN finance.churn_monthly.active_end IS 'Customers with access at its end; of the present month, now.';
COMMENT ON COLUMN finance.churn_monthly.churn_rate IS 'cancelled / active_start x 100, percent, two decimals; may exceed 100.';
COMMENT ON COLUMN finance.churn_monthly.payment_failure IS 'Of cancelled: a payment failed or never came.';
COMMENT ON COLUMN finance.churn_monthly.customer_cancelled IS 'Of cancelled: by the customer, at the moment when access stopped.';
COMMENT ON COLUMN finance.churn_monthly.admin_cancelled IS 'Of cancelled: by an admin or at the gateway''s console.';
COMMENT ON COLUMN finance.churn_monthly.chargeback IS 'Of cancelled: by a dispute.';
COMMENT ON COLUMN finance.churn_monthly.expired IS 'Of cancelled: the paid time ran out.';

CREATE OR REPLACE VIEW finance.revenue_monthly AS
SELECT c.month, coalesce(f.gross_gwa_cents + f.gross_gwb_cents, 0)::bigint AS gross_cents, coalesce(f.gross_gwa_cents, 0)::bigint AS gross_gwa_cents,
    coalesce(f.gross_gwb_cents, 0)::bigint AS gross_gwb_cents, coalesce(f.refunds_cents, 0)::bigint AS refunds_cents, coalesce(f.chargebacks_cents, 0)::bigint AS chargebacks_cents,
    coalesce(f.gross_gwa_cents + f.gross_gwb_cents - f.refunds_cents - f.chargebacks_cents, 0)::bigint AS net_cents,
    c.new_customers AS new_subscriptions, c.cancelled AS cancellations
FROM finance.churn_monthly c
LEFT JOIN (
    SELECT date_trunc('month', d.day::timestamp)::date AS month, sum(d.gross_gwa_cents) AS gross_gwa_cents, sum(d.gross_gwb_cents) AS gross_gwb_cents,
        sum(d.refunds_cents) AS refunds_cents, sum(d.chargebacks_cents) AS chargebacks_cents
    FROM finance_internal.daily_parts d
    GROUP BY 1
) f ON f.month = c.month;
COMMENT ON VIEW finance.revenue_monthly IS 'Cash by month, one row for each month from the first on, exact at any moment. Source: finance.daily, finance.churn_monthly.';
COMMENT ON COLUMN finance.revenue_monthly.month IS 'First day of the month, in the report time zone.';
COMMENT ON COLUMN finance.revenue_monthly.gross_cents IS 'Subscription payments settled in the month, cents, once per gateway payment.';
COMMENT ON COLUMN finance.revenue_monthly.gross_gwa_cents IS 'The part of gateway A, cents.';
COMMENT ON COLUMN finance.revenue_monthly.gross_gwb_cents IS 'The part of gateway B, cents.';
COMMENT ON COLUMN finance.revenue_monthly.refunds_cents IS 'Given back in the month, cents.';
COMMENT ON COLUMN finance.revenue_monthly.chargebacks_cents IS 'Taken by disputes opened in the month less what was given back by those won in it, cents; may be negative.';
COMMENT ON COLUMN finance.revenue_monthly.net_cents IS 'gross - refunds - chargebacks, cents; may be negative.';
COMMENT ON COLUMN finance.revenue_monthly.new_subscriptions IS 'New of finance.churn_monthly.';
COMMENT ON COLUMN finance.revenue_monthly.cancellations IS 'Cancelled of finance.churn_monthly.';

CREATE OR REPLACE VIEW finance.cohorts AS
WITH moved AS MATERIALIZED (
    SELECT c.cohort_month, (extract(year FROM age(c.month, c.cohort_month)) * 12 + extract(month FROM age(c.month, c.cohort_month)))::integer AS months_since, c.customers, c.change
    FROM finance.cohort_months c
), sized AS (
    SELECT m.cohort_month, sum(m.customers)::bigint AS customers FROM moved m GROUP BY m.cohort_month HAVING sum(m.customers) > 0
)
SELECT c.cohort_month, c.months_since, c.customers, c.retained,
    CASE WHEN c.customers = 0 THEN 0 ELSE round(100.0 * c.retained / c.customers, 2) END::numeric AS retained_pct
FROM (
    SELECT k.cohort_month, n.months_since, k.customers, sum(coalesce(x.change, 0)) OVER (PARTITION BY k.cohort_month ORDER BY n.months_since)::bigint AS retained
    FROM sized k
    CROSS JOIN (SELECT date_trunc('month', c.today::timestamp)::date AS month FROM finance.clock c OFFSET 0) p
    CROSS JOIN LATERAL generate_series(0, (extract(year FROM age(p.month, k.cohort_month)) * 12 + extract(month FROM age(p.month, k.cohort_month)))::integer) AS n (months_since)
    LEFT JOIN moved x ON x.cohort_month = k.cohort_month AND x.months_since = n.months_since
) c;
COMMENT ON VIEW finance.cohorts IS 'Retention: customers by the month in which they first had access, and how many of them have it at the end of each month since (of the present month: now). Exact at any moment. Source: finance.cohort_months.';
COMMENT ON COLUMN finance.cohorts.cohort_month IS 'First day of the month of the first access, in the report time zone.';
COMMENT ON COLUMN finance.cohorts.months_since IS '0 is that month itself.';
COMMENT ON COLUMN finance.cohorts.customers IS 'Customers of the cohort.';
COMMENT ON COLUMN finance.cohorts.retained IS 'Of them, those with access at the end of that month.';
COMMENT ON COLUMN finance.cohorts.retained_pct IS 'retained / customers x 100, percent, two decimals.';

CREATE OR REPLACE VIEW finance.customer_profiles_personal AS
SELECT u.id AS customer_id, u.username, u.email, coalesce(u.full_name, '') AS full_name, u.tax_id, u.phone, u.nationality, u.address,
    u.enable AS is_enabled, u.email_verified, u.email_verified_at, u.current_subscription_id, u.promo_code_used, u.created_at, u.updated_at
FROM accounts.users u
WHERE u.user_type = 'customer' AND u.deleted_at IS NULL;
COMMENT ON VIEW finance.customer_profiles_personal IS 'PERSONAL DATA: what staff may see of a customer, one row each who is not deleted. Source: accounts.users.';
COMMENT ON COLUMN finance.customer_profiles_personal.customer_id IS 'Key, as in finance.customers.';
COMMENT ON COLUMN finance.customer_profiles_personal.username IS 'Login name.';
COMMENT ON COLUMN finance.customer_profiles_personal.email IS 'E-mail, lower case.';
COMMENT ON COLUMN finance.customer_profiles_personal.full_name IS 'Name; empty when not told.';
COMMENT ON COLUMN finance.customer_profiles_personal.tax_id IS 'CPF or CNPJ without punctuation; null when not told.';
COMMENT ON COLUMN finance.customer_profiles_personal.phone IS 'Phone with country code; null when not told.';
COMMENT ON COLUMN finance.customer_profiles_personal.nationality IS 'ISO 3166-1; empty when not told.';
COMMENT ON COLUMN finance.customer_profiles_personal.address IS 'Object with street, number, complement, locality, city, region_code, country, postal_code; null when not told.';
COMMENT ON COLUMN finance.customer_profiles_personal.is_enabled IS 'May log in.';
COMMENT ON COLUMN finance.customer_profiles_personal.email_verified IS 'The address has been confirmed.';
COMMENT ON COLUMN finance.customer_profiles_personal.email_verified_at IS 'When, UTC.';
COMMENT ON COLUMN finance.customer_profiles_personal.current_subscription_id IS 'The subscription that opens the videos to him (finance.subscriptions); null for none.';
COMMENT ON COLUMN finance.customer_profiles_personal.promo_code_used IS 'The promo code given at signup.';
COMMENT ON COLUMN finance.customer_profiles_personal.created_at IS 'Instant, UTC.';
COMMENT ON COLUMN finance.customer_profiles_personal.updated_at IS 'Instant, UTC.';

CREATE OR REPLACE VIEW finance.customer_logins_personal AS
SELECT l.login, l.user_id AS customer_id
FROM accounts.logins l;
COMMENT ON VIEW finance.customer_logins_personal IS 'PERSONAL DATA: whom a username or e-mail belongs to, by index. Source: accounts.logins.';
COMMENT ON COLUMN finance.customer_logins_personal.login IS 'Username or e-mail in the form in which they are compared: lower case, NFKC.';
COMMENT ON COLUMN finance.customer_logins_personal.customer_id IS 'Its user; an admin''s is in no view of customers.';

CREATE OR REPLACE VIEW finance.tickets_personal AS
SELECT t.id AS ticket_id, t.title, t.promo_code
FROM tickets.tickets t;
COMMENT ON VIEW finance.tickets_personal IS 'PERSONAL DATA: what is written on tickets, which people may have worded, and the text of their promo code. Source: tickets.tickets.';
COMMENT ON COLUMN finance.tickets_personal.ticket_id IS 'Key, as in finance.tickets.';
COMMENT ON COLUMN finance.tickets_personal.title IS 'Title.';
COMMENT ON COLUMN finance.tickets_personal.promo_code IS 'The code that made it; null for none.';

CREATE OR REPLACE VIEW finance.promo_redemptions_personal AS
SELECT r.id AS redemption_id, r.code
FROM promos.redemptions r;
COMMENT ON VIEW finance.promo_redemptions_personal IS 'PERSONAL DATA: the text that was redeemed. Source: promos.redemptions.';
COMMENT ON COLUMN finance.promo_redemptions_personal.redemption_id IS 'Key, as in finance.promo_redemptions.';
COMMENT ON COLUMN finance.promo_redemptions_personal.code IS 'As it was then.';

CREATE OR REPLACE VIEW finance.watch_history AS
SELECT w.user_id AS customer_id, w.video_id, w.updated_at AS watched_at
FROM catalog.watch_history w
JOIN accounts.users u ON u.id = w.user_id AND u.user_type = 'customer';
COMMENT ON VIEW finance.watch_history IS 'Videos that customers have begun, one row each and video. Source: catalog.watch_history.';
COMMENT ON COLUMN finance.watch_history.customer_id IS 'The customer (finance.customers).';
COMMENT ON COLUMN finance.watch_history.video_id IS 'The video.';
COMMENT ON COLUMN finance.watch_history.watched_at IS 'When he last watched it, UTC.';

CREATE OR REPLACE VIEW finance.customer_failures AS
SELECT s.customer_id, f.id AS failed_attempt_id, f.purpose, f.gateway, f.amount_cents, f.failed_at
FROM subscriptions.subscriptions s
JOIN payments.failed_attempts f ON f.purpose = 'subscription' AND f.local_id = s.id
UNION ALL
SELECT o.customer_id, f.id, f.purpose, f.gateway, f.amount_cents, f.failed_at
FROM tickets.orders o
JOIN payments.failed_attempts f ON f.purpose = 'order' AND f.local_id = o.id;
COMMENT ON VIEW finance.customer_failures IS 'Failed attempts to take a payment, with the customer: those of one are found by index. Source: payments.failed_attempts, subscriptions.subscriptions, tickets.orders.';
COMMENT ON COLUMN finance.customer_failures.customer_id IS 'The customer (finance.customers); stays when he is deleted.';
COMMENT ON COLUMN finance.customer_failures.failed_attempt_id IS 'Key, as in finance.failed_attempts.';
COMMENT ON COLUMN finance.customer_failures.purpose IS 'subscription or order.';
COMMENT ON COLUMN finance.customer_failures.gateway IS 'gwa or gwb.';
COMMENT ON COLUMN finance.customer_failures.amount_cents IS 'What was to be paid, cents.';
COMMENT ON COLUMN finance.customer_failures.failed_at IS 'Instant, UTC.';

CREATE OR REPLACE VIEW finance.definitions AS
SELECT 1 AS position, 'active subscriptions' AS figure, 'status = ''active'' and (expires_at is null or in the future)' AS formula,
        'the same rule that opens the videos; suspended is not active; deleted at the gateway with paid time left is active' AS edges
UNION ALL SELECT 2, 'MRR', 'sum over active of the monthly price as it was when subscribed (snapshot, cents)',
        'a yearly PIX counts once its monthly price, not the year; the first-month discount does not lower it; a later price change of the plan does not move old subscriptions; trials count and are also shown apart as trial_mrr'
UNION ALL SELECT 3, 'mrr_gwa, mrr_gwb', 'the same by gateway', 'add up to MRR exactly'
UNION ALL SELECT 4, 'ARR', 'MRR x 12', ''
UNION ALL SELECT 5, 'average ticket', 'MRR / active, rounded', ''
UNION ALL SELECT 6, 'overdue', '(payment_failures > 0 or suspended) and status not cancelled or expired', ''
UNION ALL SELECT 7, 'days_overdue', 'calendar days from the first due date that was missed in this run of failures (of the first failure, else last_payment_at plus the period, else next_billing_date when past), at least 0; it never falls while nothing is paid', ''
UNION ALL SELECT 8, 'total_amount_at_risk', 'sum of the monthly prices of the overdue', ''
UNION ALL SELECT 9, 'exits', 'transitions out of active that end access; unit is the customer; moment is when access stops, not when cancelling was asked',
        'replacing a subscription by renewal is no exit; suspended and paid again within the period is no exit; someone who joins and leaves in the period counts in new and cancelled'
UNION ALL SELECT 10, 'churn of a month', 'cancelled / active_start x 100; active_end = active_start + new - cancelled holds in every row', 'may exceed 100'
UNION ALL SELECT 11, 'churn_rate_30d', 'exits in the last 30 days / active 30 days ago x 100', ''
UNION ALL SELECT 12, 'by_reason', 'payment_failure, customer_cancelled, admin_cancelled, chargeback, expired', 'every exit has exactly one; gone_at_gateway (missing at the gateway, seen twice) counts under admin_cancelled'
UNION ALL SELECT 13, 'gross (series)', 'subscription payments settled in the bucket, by time of payment, once per gateway payment',
        'cash basis: a yearly PIX is whole in its month; card CONFIRMED and, 32 days later, RECEIVED are one payment; ticket sales stay in the events dashboard'
UNION ALL SELECT 14, 'refunds, chargebacks (series)', 'by time of refund, of dispute', 'a won dispute counts back in its own bucket'
UNION ALL SELECT 15, 'net (series)', 'gross - refunds - chargebacks', 'may be negative'
UNION ALL SELECT 16, 'net_revenue_30d', 'MRR - refunds of the last 30 days', 'cash_net_30d is given beside it: gross - refunds - chargebacks of the same days'
UNION ALL SELECT 17, 'payment_success_rate', 'settled attempts / (settled + failed attempts) of the last 30 days x 100',
        'an attempt is one (gateway, payment or invoice, attempt number); a PIX that merely ran out is no attempt'
UNION ALL SELECT 18, 'total_refunded, total_chargebacks', 'sums of the ledgers of subscriptions, all time, cents', ''
UNION ALL SELECT 19, 'order revenue (events)', 'sum of total of paid orders (CONFIRMED, RECEIVED, succeeded) minus what was refunded of them, reais; none of a called off event', 'by time of payment; a whole refund or CHARGEBACK_LOST leaves 0'
UNION ALL SELECT 20, 'occupancy_pct', 'live tickets (pending, available, consumed) / capacity x 100', '0 for unlimited'
UNION ALL SELECT 21, 'tickets sold / promo', 'with an order / with a promo code and no order', 'not counting expired-unpaid'
UNION ALL SELECT 22, 'average order value; tickets per order', 'paid revenue / paid orders; tickets of paid orders / paid orders', ''
UNION ALL SELECT 23, 'tenure', 'days with access of a customer who ever had it', 'until now for who has it'
UNION ALL SELECT 24, 'cohort', 'customers by the month in which they first gained access; retained: percent of them with access at the end of that and of each later month', 'of the present month, now'
UNION ALL SELECT 25, 'ltv', 'net (series) of all time / customers who ever had access, rounded', ''
UNION ALL SELECT 26, 'reactivations', 'new of the months less the customers whose first access began in them', ''
UNION ALL SELECT 27, 'upgrades', 'moves to a plan of a higher tier, by an admin or by subscribing anew', ''
UNION ALL SELECT 28, 'failed payments; recovered', 'failed attempts of subscription payments; of these, followed by a settled payment of the subscription within 30 days', '';
COMMENT ON VIEW finance.definitions IS 'What each figure means, one row a figure, also at GET /api/v1/admin/finance/definitions. Everywhere: money in integer cents, half-open intervals, days and months of the report time zone, a zero denominator gives 0, percentages rounded half up to two decimals.';
COMMENT ON COLUMN finance.definitions.position IS 'Order of reading.';
COMMENT ON COLUMN finance.definitions.figure IS 'Name, as in the API.';
COMMENT ON COLUMN finance.definitions.formula IS 'How it is computed.';
COMMENT ON COLUMN finance.definitions.edges IS 'What holds at the edges; empty when there is nothing to say.';

CREATE OR REPLACE VIEW finance.subscription_failures AS
SELECT f.id AS failed_attempt_id, f.local_id AS subscription_id, f.gateway, f.amount_cents, f.failed_at,
    (f.failed_at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS failed_on,
    (SELECT min(p.settled_at) FROM payments.payments p
     WHERE p.purpose = 'subscription' AND p.local_id = f.local_id AND p.settled_at > f.failed_at AND p.settled_at <= f.failed_at + interval '30 days') AS recovered_at
FROM payments.failed_attempts f
WHERE f.purpose = 'subscription';
COMMENT ON VIEW finance.subscription_failures IS 'Failed attempts of subscription payments, and whether the money came after all. Source: payments.failed_attempts, payments.payments.';
COMMENT ON COLUMN finance.subscription_failures.failed_attempt_id IS 'Key, as in finance.failed_attempts.';
COMMENT ON COLUMN finance.subscription_failures.subscription_id IS 'The subscription (finance.subscriptions).';
COMMENT ON COLUMN finance.subscription_failures.gateway IS 'gwa or gwb.';
COMMENT ON COLUMN finance.subscription_failures.amount_cents IS 'What was to be paid, cents.';
COMMENT ON COLUMN finance.subscription_failures.failed_at IS 'Instant, UTC.';
COMMENT ON COLUMN finance.subscription_failures.failed_on IS 'Day of failed_at in the report time zone.';
COMMENT ON COLUMN finance.subscription_failures.recovered_at IS 'The next settled payment of the subscription within 30 days, UTC; null when there is none.';

-- The plan before comes from the index alone; what admins moved is joined to it.
CREATE OR REPLACE VIEW finance.plan_moves AS
SELECT m.customer_id, m.subscription_id, m.at, (m.at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS day, m.source,
    a.plan_id AS from_plan_id, b.plan_id AS to_plan_id, b.tier > a.tier AS is_upgrade, b.tier < a.tier AS is_downgrade
FROM (
    SELECT w.customer_id, w.subscription_id, w.at, 'subscription'::text AS source, w.from_plan, coalesce(f.plan_id, w.plan) AS to_plan
    FROM (
        SELECT s.customer_id::text AS customer_id, s.id::text AS subscription_id, s.started_at AS at, s.plan_id AS plan,
            lag(s.plan_id) OVER (PARTITION BY s.customer_id ORDER BY s.started_at, s.id) AS from_plan
        FROM subscriptions.subscriptions s
        WHERE s.started_at IS NOT NULL
    ) w
    LEFT JOIN (
        SELECT DISTINCT ON (l.record_id) l.record_id, l.before ->> 'plan_id' AS plan_id
        FROM accounts.audit_log l
        WHERE l.resource = 'subscriptions' AND l.before ? 'plan_id' AND l.after ? 'plan_id' AND l.erased_at IS NULL
        ORDER BY l.record_id, l.at, l.id
    ) f ON f.record_id = w.subscription_id
    UNION ALL
    SELECT s.customer_id::text, s.id::text, l.at, 'admin', l.before ->> 'plan_id', l.after ->> 'plan_id'
    FROM accounts.audit_log l
    JOIN subscriptions.subscriptions s ON s.id = l.record_id
    WHERE l.resource = 'subscriptions' AND l.before ? 'plan_id' AND l.after ? 'plan_id' AND l.erased_at IS NULL
) m
JOIN subscriptions.plans a ON a.plan_id = m.from_plan
JOIN subscriptions.plans b ON b.plan_id = m.to_plan
WHERE m.from_plan <> m.to_plan;
COMMENT ON VIEW finance.plan_moves IS 'Customers who changed their plan: one row a move, by subscribing anew or by an admin. Source: subscriptions.subscriptions, accounts.audit_log.';
COMMENT ON COLUMN finance.plan_moves.customer_id IS 'The customer (finance.customers); stays when he is deleted.';
COMMENT ON COLUMN finance.plan_moves.subscription_id IS 'The subscription that has the new plan (finance.subscriptions).';
COMMENT ON COLUMN finance.plan_moves.at IS 'When it started, or the admin moved it, UTC.';
COMMENT ON COLUMN finance.plan_moves.day IS 'Day of at in the report time zone.';
COMMENT ON COLUMN finance.plan_moves.source IS 'subscription (the customer subscribed anew or renewed) or admin.';
COMMENT ON COLUMN finance.plan_moves.from_plan_id IS 'The plan before (finance.plans).';
COMMENT ON COLUMN finance.plan_moves.to_plan_id IS 'The plan after.';
COMMENT ON COLUMN finance.plan_moves.is_upgrade IS 'Its tier is higher.';
COMMENT ON COLUMN finance.plan_moves.is_downgrade IS 'Its tier is lower.';

CREATE TABLE finance.exports (
    id           platform.object_id PRIMARY KEY,
    requested_by platform.object_id NOT NULL,
    kind         text COLLATE "C" NOT NULL,
    format       text COLLATE "C" NOT NULL,
    parameters   jsonb NOT NULL,
    filename     text COLLATE "C" NOT NULL,
    status       text COLLATE "C" NOT NULL DEFAULT 'queued',
    attempt      integer NOT NULL DEFAULT 0,
    lease_until  timestamptz,
    rows_total   bigint,
    rows_written bigint NOT NULL DEFAULT 0,
    size         bigint,
    error        text,
    created_at   timestamptz NOT NULL,
    started_at   timestamptz,
    finished_at  timestamptz,
    expires_at   timestamptz,
    CONSTRAINT exports_kind_known CHECK (kind IN ('finance', 'events', 'customers')),
    CONSTRAINT exports_format_known CHECK (format IN ('xlsx', 'csv', 'json')),
    CONSTRAINT exports_status_known CHECK (status IN ('queued', 'running', 'done', 'failed')),
    CONSTRAINT exports_running_is_leased CHECK ((status = 'running') = (lease_until IS NOT NULL)),
    CONSTRAINT exports_ended_has_end CHECK ((status IN ('done', 'failed')) = (finished_at IS NOT NULL AND expires_at IS NOT NULL)),
    CONSTRAINT exports_done_has_size CHECK ((status = 'done') = (size IS NOT NULL)),
    CONSTRAINT exports_failed_says_why CHECK ((status = 'failed') = (error IS NOT NULL))
);
COMMENT ON TABLE finance.exports IS 'Files that a job writes because they are long or because the admin asked for it so. Deleting a row stops its job and removes its bytes.';
COMMENT ON COLUMN finance.exports.requested_by IS 'The admin who asked; he and root alone see it. No foreign key: it is gone within days.';
COMMENT ON COLUMN finance.exports.kind IS 'finance, events or customers: what the file is of.';
COMMENT ON COLUMN finance.exports.parameters IS 'What was asked for, as the module''s exportRequest.';
COMMENT ON COLUMN finance.exports.attempt IS 'How often a worker has begun. Chunks carry it, so that a worker who lost his lease adds nothing to the next one''s file.';
COMMENT ON COLUMN finance.exports.lease_until IS 'Until when the worker has said he will speak again; after it the export is begun anew.';
COMMENT ON COLUMN finance.exports.rows_total IS 'Counted by the job before it writes; null until then.';
COMMENT ON COLUMN finance.exports.size IS 'Bytes of the whole file.';
COMMENT ON COLUMN finance.exports.error IS 'A sentence for the admin; the cause is in the log.';
COMMENT ON COLUMN finance.exports.expires_at IS 'When file and row are removed.';
CREATE UNIQUE INDEX exports_asked_once ON finance.exports (requested_by, kind, md5(parameters::text)) WHERE status IN ('queued', 'running');
COMMENT ON INDEX finance.exports_asked_once IS 'Asking again for what is being written leads to the same export.';
CREATE INDEX exports_leased ON finance.exports (lease_until) WHERE status = 'running';
CREATE INDEX exports_by_expiry ON finance.exports (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE finance.export_chunks (
    export_id platform.object_id NOT NULL,
    attempt   integer NOT NULL,
    n         integer NOT NULL,
    data      bytea NOT NULL,
    CONSTRAINT export_chunks_one_per_place PRIMARY KEY (export_id, attempt, n),
    CONSTRAINT export_chunks_export_exists FOREIGN KEY (export_id) REFERENCES finance.exports (id) ON DELETE CASCADE,
    CONSTRAINT export_chunks_place_not_negative CHECK (n >= 0),
    CONSTRAINT export_chunks_hold_bytes CHECK (octet_length(data) BETWEEN 1 AND 262144)
);
COMMENT ON TABLE finance.export_chunks IS 'The bytes of exports in pieces of 262,144, the last one shorter. Not compressed again: workbooks and zips are.';
COMMENT ON COLUMN finance.export_chunks.n IS 'Place of the piece, from 0 without gaps.';
ALTER TABLE finance.export_chunks ALTER COLUMN data SET STORAGE EXTERNAL;

CREATE OR REPLACE VIEW finance.customer_list_personal AS
SELECT u.id AS customer_id, u.user_type, u.username, u.email, coalesce(u.full_name, '') AS full_name, u.tax_id, u.phone, u.nationality, u.address, u.language,
    u.avatar_id, u.my_list, u.enable, u.email_verified, u.email_verified_at, u.current_subscription_id, u.password_reset_required, u.promo_code_used,
    u.promo_code_id, u.gwb_customer_id, u.document_created_by_id, u.created_at, u.updated_at,
    s.plan_id, p.name AS plan_name, s.gateway, s.payment_method, s.status AS subscription_status, s.price_cents, s.started_at, s.last_payment_at,
    s.next_billing_date, s.expires_at
FROM accounts.users u
LEFT JOIN subscriptions.subscriptions s ON s.id = u.current_subscription_id
LEFT JOIN subscriptions.plans p ON p.plan_id = s.plan_id
WHERE u.user_type = 'customer' AND u.deleted_at IS NULL;
COMMENT ON VIEW finance.customer_list_personal IS 'PERSONAL DATA: customers who are not deleted, with their current subscription; what GET /customers shows and the export of customers filters by. Source: accounts.users, subscriptions.subscriptions, subscriptions.plans.';
COMMENT ON COLUMN finance.customer_list_personal.customer_id IS 'Key.';
COMMENT ON COLUMN finance.customer_list_personal.user_type IS 'customer.';
COMMENT ON COLUMN finance.customer_list_personal.username IS 'Login.';
COMMENT ON COLUMN finance.customer_list_personal.email IS 'Lower case.';
COMMENT ON COLUMN finance.customer_list_personal.full_name IS 'Empty when not told.';
COMMENT ON COLUMN finance.customer_list_personal.tax_id IS 'CPF (11) or CNPJ (14).';
COMMENT ON COLUMN finance.customer_list_personal.phone IS 'Plus sign, country code and number.';
COMMENT ON COLUMN finance.customer_list_personal.nationality IS 'ISO 3166-1; empty when not told.';
COMMENT ON COLUMN finance.customer_list_personal.address IS 'street, number, complement, locality, city, region_code, country, postal_code.';
COMMENT ON COLUMN finance.customer_list_personal.language IS 'Of mails.';
COMMENT ON COLUMN finance.customer_list_personal.avatar_id IS 'File id.';
COMMENT ON COLUMN finance.customer_list_personal.my_list IS 'Videos that the customer has marked.';
COMMENT ON COLUMN finance.customer_list_personal.enable IS 'False: he cannot log in.';
COMMENT ON COLUMN finance.customer_list_personal.email_verified IS 'Proved by a code.';
COMMENT ON COLUMN finance.customer_list_personal.email_verified_at IS 'Instant, UTC.';
COMMENT ON COLUMN finance.customer_list_personal.current_subscription_id IS 'The subscription whose columns stand here; null for none.';
COMMENT ON COLUMN finance.customer_list_personal.password_reset_required IS 'He is asked to choose a new password.';
COMMENT ON COLUMN finance.customer_list_personal.promo_code_used IS 'The promo code given at signup.';
COMMENT ON COLUMN finance.customer_list_personal.promo_code_id IS 'Its id.';
COMMENT ON COLUMN finance.customer_list_personal.gwb_customer_id IS 'The customer''s id at gateway B.';
COMMENT ON COLUMN finance.customer_list_personal.document_created_by_id IS 'The admin who made the account; null when its owner did.';
COMMENT ON COLUMN finance.customer_list_personal.created_at IS 'Instant, UTC.';
COMMENT ON COLUMN finance.customer_list_personal.updated_at IS 'Instant, UTC.';
COMMENT ON COLUMN finance.customer_list_personal.plan_id IS 'Plan of the current subscription.';
COMMENT ON COLUMN finance.customer_list_personal.plan_name IS 'Its name.';
COMMENT ON COLUMN finance.customer_list_personal.gateway IS 'gwa or gwb.';
COMMENT ON COLUMN finance.customer_list_personal.payment_method IS 'credit_card, pix or boleto.';
COMMENT ON COLUMN finance.customer_list_personal.subscription_status IS 'active, pending, suspended, cancelled or expired.';
COMMENT ON COLUMN finance.customer_list_personal.price_cents IS 'Price of one month as it was sold, cents.';
COMMENT ON COLUMN finance.customer_list_personal.started_at IS 'When it was first active, UTC.';
COMMENT ON COLUMN finance.customer_list_personal.last_payment_at IS 'Instant, UTC.';
COMMENT ON COLUMN finance.customer_list_personal.next_billing_date IS 'Instant, UTC.';
COMMENT ON COLUMN finance.customer_list_personal.expires_at IS 'End of access; null while a recurrence runs.';

CREATE TABLE finance.invariant_results (
    name       text COLLATE "C" PRIMARY KEY,
    findings   bigint NOT NULL,
    offenders  jsonb NOT NULL,
    checked_at timestamptz NOT NULL,
    CONSTRAINT invariant_results_findings_not_negative CHECK (findings >= 0),
    CONSTRAINT invariant_results_offenders_are_list CHECK (jsonb_typeof(offenders) = 'array')
);
COMMENT ON TABLE finance.invariant_results IS 'What the last check of the invariants found, one row an invariant; every process shows it as metrics.';
COMMENT ON COLUMN finance.invariant_results.name IS 'Of a file in sql/finance/invariants.';
COMMENT ON COLUMN finance.invariant_results.offenders IS 'The first offenders, each with id and detail.';

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION finance.rebuild_figures() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    -- By differences and not anew: transactions under way keep their deltas, and
    -- each statement compares what one snapshot holds.
    PERFORM pg_advisory_xact_lock(hashtextextended('finance.fold', 0));
    INSERT INTO finance.daily_rollup AS r (day,
        gross_gwa_cents, gross_gwb_cents, payments, failed_attempts, refunds_cents, chargebacks_cents, entries, exits_payment_failure,
        exits_customer_cancelled, exits_admin_cancelled, exits_chargeback, exits_expired, returned_in_day, returned_in_month_payment_failure,
        returned_in_month_customer_cancelled, returned_in_month_admin_cancelled, returned_in_month_chargeback, returned_in_month_expired)
    SELECT f.day,
        sum(f.sign * f.gross_gwa_cents), sum(f.sign * f.gross_gwb_cents), sum(f.sign * f.payments), sum(f.sign * f.failed_attempts),
        sum(f.sign * f.refunds_cents), sum(f.sign * f.chargebacks_cents), sum(f.sign * f.entries), sum(f.sign * f.exits_payment_failure),
        sum(f.sign * f.exits_customer_cancelled), sum(f.sign * f.exits_admin_cancelled), sum(f.sign * f.exits_chargeback), sum(f.sign * f.exits_expired),
        sum(f.sign * f.returned_in_day), sum(f.sign * f.returned_in_month_payment_failure), sum(f.sign * f.returned_in_month_customer_cancelled),
        sum(f.sign * f.returned_in_month_admin_cancelled), sum(f.sign * f.returned_in_month_chargeback), sum(f.sign * f.returned_in_month_expired)
    FROM (
        SELECT 1 AS sign, c.* FROM finance_internal.daily_scan c
        UNION ALL
        SELECT -1, k.* FROM finance.daily k
    ) f
    GROUP BY f.day
    ON CONFLICT (day) DO UPDATE SET
        gross_gwa_cents = r.gross_gwa_cents + excluded.gross_gwa_cents,
        gross_gwb_cents = r.gross_gwb_cents + excluded.gross_gwb_cents,
        payments = r.payments + excluded.payments,
        failed_attempts = r.failed_attempts + excluded.failed_attempts,
        refunds_cents = r.refunds_cents + excluded.refunds_cents,
        chargebacks_cents = r.chargebacks_cents + excluded.chargebacks_cents,
        entries = r.entries + excluded.entries,
        exits_payment_failure = r.exits_payment_failure + excluded.exits_payment_failure,
        exits_customer_cancelled = r.exits_customer_cancelled + excluded.exits_customer_cancelled,
        exits_admin_cancelled = r.exits_admin_cancelled + excluded.exits_admin_cancelled,
        exits_chargeback = r.exits_chargeback + excluded.exits_chargeback,
        exits_expired = r.exits_expired + excluded.exits_expired,
        returned_in_day = r.returned_in_day + excluded.returned_in_day,
        returned_in_month_payment_failure = r.returned_in_month_payment_failure + excluded.returned_in_month_payment_failure,
        returned_in_month_customer_cancelled = r.returned_in_month_customer_cancelled + excluded.returned_in_month_customer_cancelled,
        returned_in_month_admin_cancelled = r.returned_in_month_admin_cancelled + excluded.returned_in_month_admin_cancelled,
        returned_in_month_chargeback = r.returned_in_month_chargeback + excluded.returned_in_month_chargeback,
        returned_in_month_expired = r.returned_in_month_expired + excluded.returned_in_month_expired;
    INSERT INTO finance.return_rollup AS r (day, left_day, returns)
    SELECT f.day, f.left_day, sum(f.returns)
    FROM (
        SELECT c.day, c.left_day, c.returns FROM finance_internal.return_scan c
        UNION ALL
        SELECT k.day, k.left_day, -k.returns FROM finance.returns k
    ) f
    GROUP BY f.day, f.left_day
    ON CONFLICT (day, left_day) DO UPDATE SET returns = r.returns + excluded.returns;
    INSERT INTO finance.standing_rollup AS r (gateway, payment_method, plan_id, active, mrr_cents, trials, trial_mrr_cents, overdue, at_risk_cents, customers)
    SELECT f.gateway, f.payment_method, f.plan_id, sum(f.sign * f.active), sum(f.sign * f.mrr_cents), sum(f.sign * f.trials), sum(f.sign * f.trial_mrr_cents), sum(f.sign * f.overdue), sum(f.sign * f.at_risk_cents), sum(f.sign * f.customers)
    FROM (
        SELECT 1 AS sign, c.* FROM finance_internal.standing_scan c
        UNION ALL
        SELECT -1, k.* FROM finance.standing k
    ) f
    GROUP BY f.gateway, f.payment_method, f.plan_id
    ON CONFLICT (gateway, payment_method, plan_id) DO UPDATE SET
        active = r.active + excluded.active,
        mrr_cents = r.mrr_cents + excluded.mrr_cents,
        trials = r.trials + excluded.trials,
        trial_mrr_cents = r.trial_mrr_cents + excluded.trial_mrr_cents,
        overdue = r.overdue + excluded.overdue,
        at_risk_cents = r.at_risk_cents + excluded.at_risk_cents,
        customers = r.customers + excluded.customers;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION finance.rebuild_figures() IS 'The part of finance.rebuild for figures by day and present figures.';

CREATE INDEX dues_by_next_billing ON finance.dues (next_billing_date);
CREATE INDEX dues_by_other_day ON finance.dues (otherwise_on) INCLUDE (next_billing_date);

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION finance.keep_due(id text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO finance.dues (subscription_id, next_billing_date, otherwise_on)
    SELECT c.subscription_id, c.next_billing_date, c.otherwise_on FROM finance_internal.due_scan c WHERE c.subscription_id = id
    ON CONFLICT (subscription_id) DO UPDATE SET next_billing_date = excluded.next_billing_date, otherwise_on = excluded.otherwise_on;
    IF NOT FOUND THEN
        DELETE FROM finance.dues d WHERE d.subscription_id = id;
    END IF;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION finance.keep_due(text) IS 'Writes down since when a subscription is due, or that it is not overdue.';

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION finance.note_due() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM finance.keep_due(coalesce(NEW.id, OLD.id));
    RETURN NULL;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION finance.note_due() IS 'Keeps finance.dues when subscriptions change.';
CREATE TRIGGER finance_due_added AFTER INSERT ON subscriptions.subscriptions FOR EACH ROW
    WHEN (NEW.payment_failures > 0 OR NEW.status = 'suspended') EXECUTE FUNCTION finance.note_due();
CREATE TRIGGER finance_due_removed AFTER DELETE ON subscriptions.subscriptions FOR EACH ROW EXECUTE FUNCTION finance.note_due();
CREATE TRIGGER finance_due_changed AFTER UPDATE ON subscriptions.subscriptions FOR EACH ROW
    WHEN ((OLD.payment_failures > 0 OR OLD.status = 'suspended' OR NEW.payment_failures > 0 OR NEW.status = 'suspended')
        AND (OLD.payment_failures > 0, OLD.status, OLD.next_billing_date, OLD.last_payment_at, OLD.period_months)
        IS DISTINCT FROM (NEW.payment_failures > 0, NEW.status, NEW.next_billing_date, NEW.last_payment_at, NEW.period_months))
    EXECUTE FUNCTION finance.note_due();

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION finance.note_failure_due() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    subject text;
BEGIN
    FOR subject IN SELECT DISTINCT x.id FROM (VALUES (NEW.purpose, NEW.local_id), (OLD.purpose, OLD.local_id)) AS x (purpose, id) WHERE x.purpose = 'subscription' LOOP
        -- Whoever changes the subscription meanwhile sees the failure, or is seen here.
        PERFORM FROM subscriptions.subscriptions s WHERE s.id = subject FOR NO KEY UPDATE;
        IF FOUND THEN
            PERFORM finance.keep_due(subject);
        END IF;
    END LOOP;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION finance.note_failure_due() IS 'Keeps finance.dues when failed attempts are told of; NEW or OLD is all null where there is none. It holds the subscription''s row, as whoever records a failure does.';
CREATE TRIGGER finance_failure_due_added AFTER INSERT OR DELETE ON payments.failed_attempts FOR EACH ROW EXECUTE FUNCTION finance.note_failure_due();
CREATE TRIGGER finance_failure_due_changed AFTER UPDATE ON payments.failed_attempts FOR EACH ROW
    WHEN ((OLD.purpose, OLD.local_id, OLD.failed_at) IS DISTINCT FROM (NEW.purpose, NEW.local_id, NEW.failed_at)) EXECUTE FUNCTION finance.note_failure_due();

REVOKE EXECUTE ON FUNCTION finance.grant_analysts() FROM PUBLIC;

-- What the ledgers hold already is counted: where this was taken back for a while they have gone on.
INSERT INTO finance.access_ends (transition_id, ended_at)
SELECT t.id, greatest(s.expires_at, e.at)
FROM subscriptions.transitions t
JOIN subscriptions.subscriptions s ON s.id = t.subscription_id
JOIN LATERAL (SELECT b.at FROM subscriptions.transitions b WHERE b.subscription_id = t.subscription_id AND b.to_status = 'active' AND b.id < t.id ORDER BY b.id DESC LIMIT 1) e ON true
WHERE t.from_status = 'active' AND s.expires_at IS NOT NULL AND greatest(s.expires_at, e.at) < t.at
  AND NOT EXISTS (SELECT FROM subscriptions.transitions l WHERE l.subscription_id = t.subscription_id AND l.id > t.id AND l.to_status = 'active');
SELECT finance.rebuild();

SELECT finance.grant_analysts();

-- +goose Down
-- The roles stay: they belong to the cluster, and other databases may use them. The triggers on
-- the ledgers go with their functions.
DROP SCHEMA finance_internal CASCADE;
DROP SCHEMA finance CASCADE;
