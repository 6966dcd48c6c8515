package scale

// ledgers are the money of the subscriptions, and the webhook calls that told of
// some of it.
var ledgers = []part{
	{"payments of subscriptions", `
INSERT INTO payments.payments (id, gateway, gateway_payment_id, payment_intent_id, purpose, local_id, customer_id, amount_cents, method, native_status,
    settled_at, created_at, updated_at)
SELECT pg_temp.scale_id(p.at, '9a', l.n * 32 + k), l.gateway, CASE l.gateway WHEN 'gwa' THEN 'pay_scale_' ELSE 'in_scale_' END || l.n || '_' || k,
    CASE l.gateway WHEN 'gwb' THEN 'pi_scale_' || l.n || '_' || k END, 'subscription', l.id, l.customer_id, l.price * l.months, l.method,
    CASE l.gateway WHEN 'gwa' THEN 'RECEIVED' ELSE 'paid' END, p.at, p.at, p.at
FROM scale_lives l
CROSS JOIN LATERAL generate_series(1, l.payments) k
CROSS JOIN LATERAL (SELECT l.first_paid + make_interval(months => k - 1) AS at) p
ORDER BY 1`},
	{"debits of automatic PIX", `
INSERT INTO subscriptions.debits (subscription_id, cycle, due_date, amount_cents, gateway_payment_id, register_date, tried_at, ordered_at, paid_at)
SELECT l.id, (p.at AT TIME ZONE 'UTC')::date, (p.at AT TIME ZONE 'UTC')::date, l.price * l.months, 'pay_scale_' || l.n || '_' || k,
    p.at - interval '5 days', p.at - interval '5 days', p.at - interval '5 days', p.at
FROM scale_lives l
CROSS JOIN LATERAL generate_series(2, l.payments) k -- the first is paid by the code of the authorization
CROSS JOIN LATERAL (SELECT l.first_paid + make_interval(months => k - 1) AS at) p
WHERE l.kind = 'automatic'
ORDER BY 1, 2`},
	{"failed attempts", `
INSERT INTO payments.failed_attempts (id, gateway, gateway_payment_id, attempt, purpose, local_id, amount_cents, failed_at, created_at)
SELECT pg_temp.scale_id(f.at, 'fa', l.n * 8 + f.attempt), l.gateway, CASE l.gateway WHEN 'gwa' THEN 'pay_failed_' ELSE 'in_failed_' END || l.n, f.attempt,
    'subscription', l.id, l.price, f.at, f.at
FROM scale_lives l
CROSS JOIN LATERAL (
    SELECT k AS attempt, l.last_paid + interval '1 month' + (24 * k - 23) * interval '1 hour' AS at
    FROM generate_series(1, l.failures) k WHERE l.kind <> 'back'
    UNION ALL SELECT k, l.last_paid - interval '4 days' + k * interval '16 hours' FROM generate_series(1, 3) k WHERE l.kind = 'back' AND l.payments > 1
    UNION ALL SELECT 1, l.first_paid + interval '1 month' - interval '1 day' WHERE l.kind IN ('card', 'left') AND l.payments > 1 AND l.n % 10 = 3
) f
ORDER BY 1`},
	{"refunds", `
INSERT INTO payments.refunds (id, gateway, payment_ref, gateway_refund_id, purpose, local_id, customer_id, amount_cents, status, source, event_id, event_type,
    reason, requested_at, refunded_at, created_at, updated_at)
SELECT pg_temp.scale_id(r.at, 'ef', l.n), l.gateway, CASE l.gateway WHEN 'gwa' THEN 'pay_scale_' ELSE 'in_scale_' END || l.n || '_' || l.payments,
    CASE l.gateway WHEN 'gwa' THEN 'ref_scale_' ELSE 're_scale_' END || l.n, 'subscription', l.id, l.customer_id, l.refunded, 'done', 'gateway',
    'evt_refund_' || l.n, CASE l.gateway WHEN 'gwa' THEN 'PAYMENT_REFUNDED' ELSE 'charge.refunded' END, 'requested_by_customer', r.at, r.at, r.at, r.at
FROM scale_lives l CROSS JOIN LATERAL (SELECT l.last_paid + interval '12 hours' AS at) r
WHERE l.refunded > 0
ORDER BY 1`},
	{"histories of refunds", `
INSERT INTO payments.refund_transitions (refund_id, at, to_state, action)
SELECT r.id, r.refunded_at, r.status, 'made' FROM payments.refunds r WHERE r.purpose = 'subscription' ORDER BY r.id`},
	{"disputes", `
INSERT INTO payments.disputes (id, gateway, gateway_dispute_id, payment_ref, purpose, local_id, customer_id, amount_cents, reason, state, native_status,
    opened_at, closed_at, reported_at, created_at, updated_at)
SELECT pg_temp.scale_id(d.opened, 'd1', l.n), l.gateway, 'du_scale_' || l.n,
    CASE l.gateway WHEN 'gwa' THEN 'pay_scale_' ELSE 'pi_scale_' END || l.n || '_' || d.payment, 'subscription', l.id, l.customer_id, l.price * l.months,
    'fraudulent', d.state, CASE d.state WHEN 'open' THEN 'needs_response' ELSE d.state END, d.opened, d.closed, coalesce(d.closed, d.opened), d.opened, coalesce(d.closed, d.opened)
FROM scale_lives l
CROSS JOIN LATERAL (
    SELECT 'open' AS state, l.last_paid + interval '3 days' AS opened, NULL::timestamptz AS closed, l.payments AS payment WHERE l.kind = 'disputed'
    UNION ALL SELECT 'lost', l.last_paid + interval '3 days', l.ended, l.payments WHERE l.kind = 'charged_back'
    UNION ALL SELECT 'won', l.first_paid + interval '3 days', l.first_paid + interval '13 days', 1 WHERE l.kind = 'won_back' AND l.payments > 1
) d
ORDER BY 1`},
	{"histories of disputes", `
INSERT INTO payments.dispute_transitions (dispute_id, at, to_state, action, reason)
SELECT d.id, d.reported_at, d.state, 'reported_' || d.state, d.native_status FROM payments.disputes d ORDER BY d.id`},
	{"months of webhook calls", `
SELECT payments.add_webhook_log_months($2::timestamptz - interval '90 days', 4) WHERE $1::bigint > 0`},
	{"webhook calls of 90 days", `
INSERT INTO payments.webhook_logs (id, gateway, event_id, event_type, payload, signature, signature_valid, processed, result, received_at, processed_at)
SELECT pg_temp.scale_id(l.last_paid, 'e0', l.n), l.gateway, 'evt_scale_' || l.n, t.type,
    jsonb_build_object('id', 'evt_scale_' || l.n, 'type', t.type, 'created', extract(epoch FROM l.last_paid)::bigint),
    CASE l.gateway WHEN 'gwb' THEN 't=' || extract(epoch FROM l.last_paid)::bigint || ',v1=' || md5(l.id) END, true, true,
    jsonb_build_object('status', 'processed', 'reason', '', 'subscription_id', l.id, 'new_status', 'active'), l.last_paid, l.last_paid + interval '20 milliseconds'
FROM scale_lives l
CROSS JOIN LATERAL (SELECT CASE l.gateway WHEN 'gwa' THEN 'PAYMENT_RECEIVED' ELSE 'invoice.paid' END AS type) t
WHERE l.payments > 0 AND l.n % 2 = 1 AND l.last_paid > $2::timestamptz - interval '90 days' AND $1::bigint > 0
ORDER BY 1`},
	{"events of gateways", `
INSERT INTO payments.processed_events (gateway, event_id, log_id, state, subjects, result, event_at, updated_at)
SELECT w.gateway, w.event_id, w.id, 'done', '{}', w.result, w.received_at, w.processed_at
FROM payments.webhook_logs w
WHERE w.event_id LIKE 'evt\_scale\_%'
ORDER BY w.gateway, w.event_id`},
}
