-- +goose Up
-- Reports of whole lives at a million subscriptions: in order by an index, and
-- without counting what nobody asked for.
CREATE INDEX subscriptions_plan_history ON subscriptions.subscriptions (customer_id, started_at, id) INCLUDE (plan_id) WHERE started_at IS NOT NULL;
COMMENT ON INDEX subscriptions.subscriptions_plan_history IS 'The plans that a customer has had, in order: finance.plan_moves.';
CREATE INDEX audit_log_plan_moves ON accounts.audit_log (record_id, at, id)
    WHERE resource = 'subscriptions' AND before ? 'plan_id' AND after ? 'plan_id' AND erased_at IS NULL;
COMMENT ON INDEX accounts.audit_log_plan_moves IS 'The few entries by which an admin moved a subscription to another plan: finance.plan_moves.';

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

-- Whoever asks neither for tickets nor for orders has them not counted.
CREATE OR REPLACE VIEW finance.events AS
SELECT e.id AS event_id, e.title, e.event_type, e.event_date, e.ends_at, e.location, coalesce(e.capacity, 0) AS capacity, e.is_active,
    e.is_sale_box_office AS is_on_sale, e.event_date > finance.now() AS is_upcoming, coalesce(e.ticket_value_cents, 0) AS ticket_value_cents,
    t.live AS tickets_live, t.sold AS tickets_sold, t.promo AS tickets_promo, t.pending AS tickets_pending, t.available AS tickets_available,
    t.consumed AS tickets_consumed, t.expired AS tickets_expired,
    o.orders AS orders_count, o.paid AS paid_orders, o.revenue_cents,
    CASE WHEN coalesce(e.capacity, 0) = 0 THEN 0 ELSE round(100.0 * t.live / e.capacity, 2) END::numeric AS occupancy_pct
FROM tickets.events e
LEFT JOIN LATERAL (
    SELECT count(*) FILTER (WHERE k.is_live) AS live, count(*) FILTER (WHERE k.is_sold) AS sold, count(*) FILTER (WHERE k.is_promo) AS promo,
        count(*) FILTER (WHERE k.status = 'pending') AS pending, count(*) FILTER (WHERE k.status = 'available') AS available,
        count(*) FILTER (WHERE k.status = 'consumed') AS consumed, count(*) FILTER (WHERE k.status = 'expired') AS expired
    FROM finance.tickets k WHERE k.event_id = e.id) t ON true
LEFT JOIN LATERAL (
    SELECT count(*) AS orders, count(*) FILTER (WHERE b.payment_status IN ('CONFIRMED', 'RECEIVED', 'succeeded')) AS paid,
        coalesce(sum(b.total_cents) FILTER (WHERE b.payment_status IN ('CONFIRMED', 'RECEIVED', 'succeeded')), 0)::bigint AS revenue_cents
    FROM tickets.orders b WHERE b.event_id = e.id) o ON true;

-- +goose Down
CREATE OR REPLACE VIEW finance.events AS
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
CREATE OR REPLACE VIEW finance.plan_moves AS
SELECT m.customer_id, m.subscription_id, m.at, (m.at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS day, m.source,
    a.plan_id AS from_plan_id, b.plan_id AS to_plan_id, b.tier > a.tier AS is_upgrade, b.tier < a.tier AS is_downgrade
FROM (
    SELECT s.customer_id::text AS customer_id, s.id::text AS subscription_id, s.started_at AS at, 'subscription'::text AS source,
        lag(s.plan_id) OVER (PARTITION BY s.customer_id ORDER BY s.started_at, s.id) AS from_plan, coalesce(f.plan_id, s.plan_id) AS to_plan
    FROM subscriptions.subscriptions s
    LEFT JOIN (
        SELECT DISTINCT ON (l.record_id) l.record_id, l.before ->> 'plan_id' AS plan_id
        FROM accounts.audit_log l
        WHERE l.resource = 'subscriptions' AND l.before ? 'plan_id' AND l.after ? 'plan_id' AND l.erased_at IS NULL
        ORDER BY l.record_id, l.at, l.id
    ) f ON f.record_id = s.id
    WHERE s.started_at IS NOT NULL
    UNION ALL
    SELECT s.customer_id::text, s.id::text, l.at, 'admin', l.before ->> 'plan_id', l.after ->> 'plan_id'
    FROM accounts.audit_log l
    JOIN subscriptions.subscriptions s ON s.id = l.record_id
    WHERE l.resource = 'subscriptions' AND l.before ? 'plan_id' AND l.after ? 'plan_id' AND l.erased_at IS NULL
) m
JOIN subscriptions.plans a ON a.plan_id = m.from_plan
JOIN subscriptions.plans b ON b.plan_id = m.to_plan
WHERE m.from_plan <> m.to_plan;
DROP INDEX accounts.audit_log_plan_moves;
DROP INDEX subscriptions.subscriptions_plan_history;
