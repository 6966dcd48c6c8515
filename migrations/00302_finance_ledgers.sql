-- +goose Up
CREATE VIEW finance.plans AS
SELECT p.plan_id, p.name AS plan_name, p.amount_cents, p.tier, CASE WHEN p.trial_enabled THEN p.trial_days ELSE 0 END AS trial_days, p.is_active,
    p.register_date AS created_at
FROM subscriptions.plans p;

CREATE VIEW finance.customers AS
SELECT u.id AS customer_id, u.created_at, (u.created_at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS created_on,
    u.email_verified, u.enable AS is_enabled, u.trial_used_at, u.deleted_at IS NOT NULL AS is_deleted, u.deleted_at
FROM accounts.users u
WHERE u.user_type = 'customer';

CREATE VIEW finance.customers_personal AS
SELECT u.id AS customer_id, u.username, u.email, u.full_name, u.tax_id, u.phone
FROM accounts.users u
WHERE u.user_type = 'customer';

CREATE VIEW finance.subscriptions AS
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

CREATE VIEW finance.payments AS
SELECT p.id AS payment_id, p.gateway, p.gateway_payment_id, p.purpose,
    CASE WHEN p.purpose = 'subscription' THEN p.local_id END::text AS subscription_id, CASE WHEN p.purpose = 'order' THEN p.local_id END::text AS order_id,
    p.customer_id, p.method AS payment_method, p.amount_cents, p.native_status,
    p.settled_at, (p.settled_at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS settled_on
FROM payments.payments p;

CREATE VIEW finance.failed_attempts AS
SELECT f.id AS failed_attempt_id, f.gateway, f.gateway_payment_id, f.attempt, f.purpose,
    CASE WHEN f.purpose = 'subscription' THEN f.local_id END::text AS subscription_id, CASE WHEN f.purpose = 'order' THEN f.local_id END::text AS order_id,
    f.amount_cents, f.failed_at, (f.failed_at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS failed_on
FROM payments.failed_attempts f;

CREATE VIEW finance.refunds AS
SELECT r.id AS refund_id, r.gateway, r.gateway_refund_id, r.payment_ref, r.purpose,
    CASE WHEN r.purpose = 'subscription' THEN r.local_id END::text AS subscription_id, CASE WHEN r.purpose = 'order' THEN r.local_id END::text AS order_id,
    r.customer_id, r.amount_cents, r.status, r.status = 'done' AS is_done, r.source, r.event_id, r.event_type, r.requested_at,
    r.refunded_at, (r.refunded_at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS refunded_on
FROM payments.refunds r;

CREATE VIEW finance.refunds_personal AS
SELECT r.id AS refund_id, r.reason, r.admin, r.failure
FROM payments.refunds r;

CREATE VIEW finance.disputes AS
SELECT d.id AS dispute_id, d.gateway, d.gateway_dispute_id, d.payment_ref, d.purpose,
    CASE WHEN d.purpose = 'subscription' THEN d.local_id END::text AS subscription_id, CASE WHEN d.purpose = 'order' THEN d.local_id END::text AS order_id,
    d.customer_id, d.amount_cents, d.state, CASE WHEN d.native_status <> 'reported_by_admin' THEN d.reason END AS reason,
    d.opened_at, (d.opened_at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS opened_on,
    d.closed_at, (d.closed_at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS closed_on
FROM payments.disputes d;

CREATE VIEW finance.chargebacks AS
SELECT c.dispute_id, c.gateway, c.purpose, c.subscription_id, c.order_id, c.customer_id, c.kind, c.amount_cents,
    c.at, (c.at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS day
FROM (
    SELECT d.dispute_id, d.gateway, d.purpose, d.subscription_id, d.order_id, d.customer_id, 'taken'::text AS kind, d.amount_cents, d.opened_at AS at
    FROM finance.disputes d WHERE d.state IN ('open', 'won', 'lost')
    UNION ALL
    SELECT d.dispute_id, d.gateway, d.purpose, d.subscription_id, d.order_id, d.customer_id, 'given_back'::text, -d.amount_cents, d.closed_at
    FROM finance.disputes d WHERE d.state = 'won'
) c;

CREATE VIEW finance.transitions AS
SELECT t.id AS transition_id, t.subscription_id, t.customer_id, t.at, (t.at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS day,
    t.from_status, t.to_status, t.reason, t.source
FROM subscriptions.transitions t;

CREATE VIEW finance.overdue AS
SELECT o.subscription_id, o.customer_id, o.plan_id, o.plan_name, o.gateway, o.payment_method, o.status AS subscription_status, o.price_cents AS amount_cents,
    o.payment_failures, o.last_payment_at, o.next_billing_date, o.due_on,
    greatest(coalesce((finance.now() AT TIME ZONE o.report_tz)::date - o.due_on, 0), 0) AS days_overdue
FROM (
    SELECT s.subscription_id, s.customer_id, s.plan_id, s.plan_name, s.gateway, s.payment_method, s.status, s.price_cents, s.payment_failures,
        s.last_payment_at, s.next_billing_date, z.report_tz,
        CASE WHEN s.next_billing_date < finance.now() THEN (s.next_billing_date AT TIME ZONE z.report_tz)::date
             ELSE coalesce(
                (SELECT (min(f.failed_at) AT TIME ZONE z.report_tz)::date FROM payments.failed_attempts f
                 WHERE f.purpose = 'subscription' AND f.local_id = s.subscription_id AND (s.last_payment_at IS NULL OR f.failed_at > s.last_payment_at)),
                ((s.last_payment_at AT TIME ZONE z.report_tz) + make_interval(months => s.period_months))::date)
        END AS due_on
    FROM finance.subscriptions s CROSS JOIN finance.settings z
    WHERE (s.payment_failures > 0 OR s.status = 'suspended') AND s.status NOT IN ('cancelled', 'expired')
) o;

CREATE VIEW finance.orders AS
SELECT o.id AS order_id, o.customer_id, o.event_id, e.title AS event_title, e.event_type, o.quantity, o.unit_price_cents, o.total_cents,
    o.gateway, o.payment_method, o.gateway_payment_id, o.payment_status, o.payment_status IN ('CONFIRMED', 'RECEIVED', 'succeeded') AS is_paid, o.state,
    o.without_login, o.created_at, (o.created_at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS created_on,
    o.paid_at, (o.paid_at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS paid_on
FROM tickets.orders o
JOIN tickets.events e ON e.id = o.event_id;

CREATE VIEW finance.tickets AS
SELECT t.id AS ticket_id, t.event_id, t.customer_id, t.order_id, t.promo_code_id, t.status, t.holds_place,
    t.status IN ('pending', 'available', 'consumed') AS is_live,
    t.holds_place AND t.order_id IS NOT NULL AS is_sold,
    t.holds_place AND t.order_id IS NULL AND t.promo_code_id IS NOT NULL AS is_promo,
    t.register_date AS created_at, t.consumed_at
FROM tickets.tickets t;

CREATE VIEW finance.events AS
SELECT e.id AS event_id, e.title, e.event_type, e.event_date, e.ends_at, e.location, coalesce(e.capacity, 0) AS capacity, e.is_active,
    e.is_sale_box_office AS is_on_sale, e.event_date > finance.now() AS is_upcoming, coalesce(e.ticket_value_cents, 0) AS ticket_value_cents,
    t.live AS tickets_live, t.sold AS tickets_sold, t.promo AS tickets_promo, t.pending AS tickets_pending, t.available AS tickets_available,
    t.consumed AS tickets_consumed, t.expired AS tickets_expired,
    o.orders AS orders_count, o.paid AS paid_orders, o.revenue_cents,
    CASE WHEN coalesce(e.capacity, 0) = 0 THEN 0 ELSE round(100.0 * t.live / e.capacity, 2) END::numeric AS occupancy_pct
FROM tickets.events e
CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE k.is_live) AS live, count(*) FILTER (WHERE k.is_sold) AS sold, count(*) FILTER (WHERE k.is_promo) AS promo,
        count(*) FILTER (WHERE k.status = 'pending') AS pending, count(*) FILTER (WHERE k.status = 'available') AS available,
        count(*) FILTER (WHERE k.status = 'consumed') AS consumed, count(*) FILTER (WHERE k.status = 'expired') AS expired
    FROM finance.tickets k WHERE k.event_id = e.id) t
CROSS JOIN LATERAL (
    SELECT count(*) AS orders, count(*) FILTER (WHERE b.payment_status IN ('CONFIRMED', 'RECEIVED', 'succeeded')) AS paid,
        coalesce(sum(b.total_cents) FILTER (WHERE b.payment_status IN ('CONFIRMED', 'RECEIVED', 'succeeded')), 0)::bigint AS revenue_cents
    FROM tickets.orders b WHERE b.event_id = e.id) o;

CREATE VIEW finance.promo_redemptions AS
SELECT r.id AS redemption_id, r.promo_code_id, r.customer_id, r.code_type, r.origin, r.tickets, r.subscription_id, r.paid_at, r.redeemed_at,
    (r.redeemed_at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS redeemed_on
FROM promos.redemptions r
WHERE r.redeemed_at IS NOT NULL;

CREATE VIEW finance.promo_codes AS
SELECT c.id AS promo_code_id, c.title, c.code_type, c.event_id, c.discount_first_month_cents AS first_month_cents, c.bonus_tickets, c.is_active,
    c.is_active AND (c.valid_until IS NULL OR c.valid_until > finance.now()) AS is_usable, c.valid_from, c.valid_until, c.register_date AS created_at,
    r.redemptions, r.paid AS paid_redemptions, r.tickets AS tickets_generated, r.first_at AS first_redeemed_at, r.last_at AS last_redeemed_at
FROM promos.promo_codes c
CROSS JOIN LATERAL (
    SELECT count(*) AS redemptions, count(*) FILTER (WHERE x.paid_at IS NOT NULL) AS paid, coalesce(sum(x.tickets), 0)::bigint AS tickets,
        min(x.redeemed_at) AS first_at, max(x.redeemed_at) AS last_at
    FROM promos.redemptions x WHERE x.promo_code_id = c.id AND x.redeemed_at IS NOT NULL) r;

CREATE VIEW finance.promo_codes_personal AS
SELECT c.id AS promo_code_id, c.code, c.target_customer_ids
FROM promos.promo_codes c;

-- +goose Down
DROP VIEW finance.promo_codes_personal;
DROP VIEW finance.promo_codes;
DROP VIEW finance.promo_redemptions;
DROP VIEW finance.events;
DROP VIEW finance.tickets;
DROP VIEW finance.orders;
DROP VIEW finance.overdue;
DROP VIEW finance.transitions;
DROP VIEW finance.chargebacks;
DROP VIEW finance.disputes;
DROP VIEW finance.refunds_personal;
DROP VIEW finance.refunds;
DROP VIEW finance.failed_attempts;
DROP VIEW finance.payments;
DROP VIEW finance.subscriptions;
DROP VIEW finance.customers_personal;
DROP VIEW finance.customers;
DROP VIEW finance.plans;
