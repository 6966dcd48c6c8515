-- name: Customer360Get :one
-- Everything about the customer whom the id, the e-mail and the tax id name; no row
-- when there is none. Each list is read by an index and cut at the newest 100.
WITH who AS MATERIALIZED (
    SELECT p.* FROM finance.customer_profiles_personal p
    WHERE p.customer_id = coalesce(
            sqlc.narg('id')::text,
            (SELECT l.customer_id FROM finance.customer_logins_personal l WHERE l.login = lower(normalize(sqlc.narg('email')::text, NFKC))),
            (SELECT t.customer_id FROM finance.customer_profiles_personal t WHERE t.tax_id = sqlc.narg('tax_id')::text))
      AND (sqlc.narg('email')::text IS NULL OR p.email = sqlc.narg('email')::text)
      AND (sqlc.narg('tax_id')::text IS NULL OR p.tax_id = sqlc.narg('tax_id')::text)
), subscription AS MATERIALIZED (
    SELECT s.subscription_id, s.created_at, json_build_object(
        '_id', s.subscription_id, 'plan_id', s.plan_id, 'plan_name', s.plan_name, 'gateway', s.gateway, 'payment_method', s.payment_method,
        'status', s.status, 'amount', s.price_cents, 'period_months', s.period_months, 'started_at', platform.json_time(s.started_at),
        'next_billing_date', platform.json_time(s.next_billing_date), 'last_payment_at', platform.json_time(s.last_payment_at),
        'expires_at', platform.json_time(s.expires_at), 'ended_at', platform.json_time(s.ended_at), 'cancel_at_period_end', s.cancel_at_period_end,
        'payment_failures', s.payment_failures, 'total_refunded', s.total_refunded_cents, 'has_chargeback', s.has_chargeback,
        'created_at', platform.json_time(s.created_at)) AS doc, s.plan_name
    FROM who JOIN finance.subscriptions s ON s.customer_id = who.customer_id
), placed AS MATERIALIZED (
    SELECT o.* FROM who JOIN finance.orders o ON o.customer_id = who.customer_id
), total AS MATERIALIZED (
    SELECT
        (SELECT coalesce(sum(p.amount_cents), 0)::bigint FROM finance.payments p WHERE p.customer_id = who.customer_id) AS paid,
        (SELECT coalesce(sum(r.amount_cents), 0)::bigint FROM finance.refunds r WHERE r.customer_id = who.customer_id AND r.is_done) AS refunded,
        (SELECT coalesce(sum(c.amount_cents), 0)::bigint FROM finance.chargebacks c WHERE c.customer_id = who.customer_id) AS chargebacks,
        (SELECT count(*) FROM placed) AS orders,
        (SELECT count(*) FROM finance.tickets t WHERE t.customer_id = who.customer_id AND t.holds_place) AS tickets
    FROM who
)
SELECT json_build_object(
    'customer', json_build_object(
        '_id', who.customer_id, 'username', who.username, 'email', who.email, 'full_name', who.full_name, 'tax_id', who.tax_id, 'phone', who.phone,
        'nationality', who.nationality, 'address', who.address, 'enable', who.is_enabled, 'email_verified', who.email_verified,
        'email_verified_at', platform.json_time(who.email_verified_at), 'current_subscription_id', who.current_subscription_id,
        'promo_code_used', who.promo_code_used, 'labels', who.labels, 'created_at', platform.json_time(who.created_at), 'updated_at', platform.json_time(who.updated_at)),
    'subscription', (SELECT s.doc FROM subscription s WHERE s.subscription_id = who.current_subscription_id),
    'subscriptions', (SELECT coalesce(json_agg(s.doc ORDER BY s.created_at DESC, s.subscription_id), '[]') FROM (
        SELECT * FROM subscription ORDER BY created_at DESC, subscription_id LIMIT 100) s),
    'payments', (SELECT coalesce(json_agg(json_build_object(
            '_id', p.payment_id, 'purpose', p.purpose, 'local_id', coalesce(p.subscription_id, p.order_id, p.customer_id), 'gateway', p.gateway,
            'gateway_payment_id', p.gateway_payment_id, 'payment_method', p.payment_method, 'amount', p.amount_cents, 'status', p.native_status,
            'paid_at', platform.json_time(p.settled_at)) ORDER BY p.settled_at DESC, p.payment_id), '[]') FROM (
        SELECT * FROM finance.payments WHERE customer_id = who.customer_id ORDER BY settled_at DESC, payment_id LIMIT 100) p),
    'refunds', (SELECT coalesce(json_agg(json_build_object(
            '_id', r.refund_id, 'purpose', r.purpose, 'local_id', coalesce(r.subscription_id, r.order_id, r.customer_id), 'gateway', r.gateway, 'amount', r.amount_cents,
            'status', r.status, 'reason', n.reason, 'requested_at', platform.json_time(r.requested_at), 'refunded_at', platform.json_time(r.refunded_at)
        ) ORDER BY r.requested_at DESC, r.refund_id), '[]') FROM (
        SELECT * FROM finance.refunds WHERE customer_id = who.customer_id ORDER BY requested_at DESC, refund_id LIMIT 100) r
        JOIN finance.refunds_personal n ON n.refund_id = r.refund_id),
    'tickets', (SELECT coalesce(json_agg(json_build_object(
            '_id', t.ticket_id, 'event_id', t.event_id, 'event_title', e.title, 'event_date', platform.json_time(e.event_date), 'title', n.title,
            'status', t.status, 'blocked', t.blocked, 'refunded_at', platform.json_time(t.refunded_at), 'ticket_order_id', t.order_id, 'promo_code', n.promo_code, 'consumed_at', platform.json_time(t.consumed_at),
            'created_at', platform.json_time(t.created_at)) ORDER BY t.created_at DESC, t.ticket_id), '[]') FROM (
        SELECT * FROM finance.tickets WHERE customer_id = who.customer_id ORDER BY created_at DESC, ticket_id LIMIT 100) t
        JOIN finance.tickets_personal n ON n.ticket_id = t.ticket_id JOIN finance.events e ON e.event_id = t.event_id),
    'orders', (SELECT coalesce(json_agg(json_build_object(
            '_id', o.order_id, 'event_id', o.event_id, 'event_title', o.event_title, 'quantity', o.quantity, 'unit_price', o.unit_price_cents,
            'total', o.total_cents, 'refunded', o.refunded_cents, 'gateway', o.gateway, 'payment_method', o.payment_method, 'payment_status', o.payment_status,
            'paid_at', platform.json_time(o.paid_at), 'created_at', platform.json_time(o.created_at)) ORDER BY o.created_at DESC, o.order_id), '[]') FROM (
        SELECT * FROM placed ORDER BY created_at DESC, order_id LIMIT 100) o),
    'promo_codes', (SELECT coalesce(json_agg(json_build_object(
            'promo_code_id', r.promo_code_id, 'code', n.code, 'code_type', r.code_type, 'tickets', r.tickets, 'redeemed_at', platform.json_time(r.redeemed_at)
        ) ORDER BY r.redeemed_at DESC, r.redemption_id), '[]') FROM (
        SELECT * FROM finance.promo_redemptions WHERE customer_id = who.customer_id ORDER BY redeemed_at DESC, redemption_id LIMIT 100) r
        JOIN finance.promo_redemptions_personal n ON n.redemption_id = r.redemption_id),
    'watch', (SELECT json_build_object('videos', count(*), 'last_at', platform.json_time(max(w.watched_at)))
        FROM finance.watch_history w WHERE w.customer_id = who.customer_id),
    'totals', json_build_object('paid', total.paid, 'refunded', total.refunded, 'chargebacks', total.chargebacks,
        'net', total.paid - total.refunded - total.chargebacks, 'orders', total.orders, 'tickets', total.tickets),
    'timeline', finance.customer_timeline(who.customer_id, '', 0, 100) -> 'timeline'
)::json AS report
FROM who CROSS JOIN total;

-- name: CustomerTimelineGet :one
-- What happened to a customer, the newest first: of one type, or of all where it is empty; no row when there is no
-- such customer.
SELECT finance.customer_timeline(who.customer_id, @kind::text, @skip::integer, @qty::integer)::json AS report
FROM finance.customer_profiles_personal who
WHERE who.customer_id = @id::text;
