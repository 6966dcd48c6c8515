package scale

// Of a hundred subscriptions twenty belong to customers who had one before. The
// kinds: running by card (card, at either gateway), automatic PIX (automatic) or a
// year's PIX (yearly), in trial, overdue, suspended, disputed, leaving at the
// period's end; ended by the customer (left), by its date (ran_out), by failed
// payments (unpaid), by an admin (removed), by a dispute (charged_back), by a
// renewal (replaced); come back after a failure (back) or a won dispute (won_back);
// never_paid, and waiting for its first PIX.
var histories = []part{
	{"kinds of history", `
WITH dice AS (
    SELECT n, n < $1::bigint / 5 AS followed, CASE WHEN n < $1::bigint - $1::bigint / 5 THEN n ELSE n - ($1::bigint - $1::bigint / 5) END AS customer,
        n % 100 AS share
    FROM generate_series(0, $1::bigint - 1) AS n
), kinds AS (
    SELECT n, customer, CASE
        WHEN followed THEN (ARRAY['replaced', 'left', 'ran_out', 'unpaid'])[n % 4 + 1]
        WHEN share < 55 THEN 'card' WHEN share < 62 THEN 'automatic' WHEN share < 67 THEN 'yearly' WHEN share < 70 THEN 'trial'
        WHEN share < 73 THEN 'overdue' WHEN share < 75 THEN 'suspended' WHEN share < 76 THEN 'disputed' WHEN share < 77 THEN 'leaving'
        WHEN share < 87 THEN 'left' WHEN share < 91 THEN 'ran_out' WHEN share < 94 THEN 'unpaid' WHEN share < 96 THEN 'removed'
        WHEN share < 97 THEN 'charged_back' WHEN share < 98 THEN CASE WHEN n % 200 < 100 THEN 'back' ELSE 'won_back' END
        WHEN share < 99 OR n % 1000 >= 100 THEN 'never_paid' ELSE 'waiting' END AS kind
    FROM dice
), weights AS (
    SELECT n, customer, kind, CASE
        WHEN kind IN ('trial', 'never_paid', 'waiting') THEN 0
        WHEN kind IN ('yearly', 'ran_out', 'replaced') THEN 1 END AS fixed,
        (500 + 300 * pg_temp.scale_dice(n, 1) + 3150 * pg_temp.scale_dice(n, 2) ^ 8)::bigint AS weight
    FROM kinds
), shared AS (
    -- What the fixed ones leave of three payments a subscription goes to the others by weight, none left over.
    SELECT *, sum(weight) FILTER (WHERE fixed IS NULL) OVER (ORDER BY n) AS upto,
        sum(weight) FILTER (WHERE fixed IS NULL) OVER () AS whole, 3 * $1::bigint - sum(fixed) OVER () AS rest
    FROM weights
)
INSERT INTO scale_counts (n, customer, kind, payments)
SELECT n, customer, kind, coalesce(fixed, div(rest * upto, whole) - div(rest * (upto - weight), whole))
FROM shared`},
	{"lives of customers' last subscriptions", subscriptionsInsert(`
SELECT c.n, c.customer, c.kind, c.payments, c.n >= $1::bigint - $1::bigint / 5 AND (c.n - ($1::bigint - $1::bigint / 5)) % 4 = 0 AS is_renewal,
    CASE
        WHEN c.kind = 'yearly' THEN $2::timestamptz - d.a * interval '340 days'
        WHEN c.kind = 'overdue' THEN $2::timestamptz - interval '33 days' - d.a * interval '4 days'
        WHEN c.kind = 'suspended' THEN $2::timestamptz - interval '40 days' - d.a * interval '20 days'
        WHEN c.kind = 'disputed' THEN $2::timestamptz - interval '5 days' - d.a * interval '20 days'
        WHEN c.kind IN ('card', 'automatic', 'leaving', 'back', 'won_back') THEN $2::timestamptz - interval '1 day' - d.a * interval '25 days'
    END AS last_paid,
    CASE WHEN c.kind IN ('left', 'ran_out', 'unpaid', 'removed', 'charged_back') THEN $2::timestamptz - interval '1 hour' - d.a ^ 1.2 * interval '1090 days'
        WHEN c.kind = 'never_paid' THEN $2::timestamptz - interval '1 day' - d.a * interval '1090 days'
        WHEN c.kind = 'trial' THEN $2::timestamptz - interval '1 hour' - d.a * interval '6 days'
        WHEN c.kind = 'waiting' THEN $2::timestamptz - interval '1 minute' - d.a * interval '20 minutes' END AS edge
FROM scale_counts c
CROSS JOIN LATERAL (SELECT pg_temp.scale_dice(c.n, 3) AS a) d
WHERE c.n >= $1::bigint / 5`)},
	{"lives of the subscriptions before them", subscriptionsInsert(`
SELECT c.n, c.customer, c.kind, c.payments, false AS is_renewal, NULL::timestamptz AS last_paid,
    CASE WHEN c.kind = 'replaced' THEN l.registered ELSE l.registered - interval '1 day' - pg_temp.scale_dice(c.n, 4) * interval '60 days' END AS edge
FROM scale_counts c
JOIN scale_lives l ON l.n = c.n + $1::bigint - $1::bigint / 5 AND $2::timestamptz IS NOT NULL
WHERE c.n < $1::bigint / 5`)},
	{"customers of two", `
UPDATE scale_lives s SET customer_id = f.customer_id FROM scale_lives f WHERE f.n = s.customer AND s.n <> s.customer`},
	{"customers", `
INSERT INTO accounts.users (id, user_type, username, email, full_name, phone, email_verified, email_verified_at, current_subscription_id, trial_used_at, created_at, updated_at)
SELECT l.customer_id, 'customer', u.name, u.name || '@example.com', 'Subscriber ' || l.n, '+55119' || lpad((l.n % 100000000)::text, 8, '0'),
    true, u.since, CASE WHEN p.status IN ('active', 'pending', 'suspended') THEN p.id END, CASE WHEN p.kind = 'trial' THEN p.registered END, u.since, u.since
FROM scale_lives l
CROSS JOIN LATERAL (SELECT 'subscriber' || l.n AS name, date_trunc('milliseconds', l.registered - interval '1 minute' - pg_temp.scale_dice(l.n, 5) * interval '1 day') AS since) u
JOIN scale_lives p ON p.n = CASE WHEN l.n < $1::bigint / 5 THEN l.n + $1::bigint - $1::bigint / 5 ELSE l.n END
WHERE l.n < $1::bigint - $1::bigint / 5
ORDER BY l.customer_id`},
	{"logins", `
INSERT INTO accounts.logins (login, user_id)
SELECT accounts.fold(v.login), u.id
FROM accounts.users u CROSS JOIN LATERAL (VALUES (u.username), (u.email)) v (login)
WHERE NOT EXISTS (SELECT FROM accounts.logins l WHERE l.user_id = u.id)
ORDER BY 1`},
	{"subscriptions", `
INSERT INTO subscriptions.subscriptions (id, customer_id, plan_id, gateway, payment_method, status, price_cents, period_months, trial_days, pix_automatic,
    pix_expires_at, started_at, next_billing_date, last_payment_at, expires_at, ended_at, gateway_ended_at, cancel_at_period_end, payment_failures,
    total_refunded_cents, has_chargeback, intent_open, anchor_day, register_date, register_update_date)
SELECT l.id, l.customer_id, l.plan_id, l.gateway, l.method, l.status, l.price, l.months, CASE l.kind WHEN 'trial' THEN 7 ELSE 0 END, l.kind = 'automatic',
    CASE WHEN l.kind = 'waiting' THEN l.registered + interval '24 hours' END,
    CASE WHEN l.kind = 'trial' THEN l.registered ELSE l.first_paid END,
    CASE WHEN l.kind = 'trial' THEN l.registered + interval '7 days'
        WHEN l.kind IN ('card', 'automatic', 'overdue', 'suspended', 'disputed', 'back', 'won_back') THEN l.last_paid + interval '1 month' END,
    l.last_paid,
    CASE l.kind WHEN 'yearly' THEN l.last_paid + interval '12 months' WHEN 'leaving' THEN l.last_paid + interval '1 month'
        WHEN 'replaced' THEN l.last_paid + interval '1 month' WHEN 'ran_out' THEN l.ended END,
    l.ended, l.ended, l.kind = 'leaving', l.failures, l.refunded, l.kind IN ('disputed', 'charged_back'), false,
    extract(day FROM l.first_paid), l.registered, coalesce(l.ended, l.last_paid, l.registered)
FROM scale_lives l
ORDER BY l.id`},
	{"transitions", `
INSERT INTO subscriptions.transitions (subscription_id, customer_id, at, from_status, to_status, reason, source)
SELECT l.id, l.customer_id, t.at, t.before, t.after, t.reason, t.source
FROM scale_lives l
CROSS JOIN LATERAL (
    SELECT l.registered AS at, NULL AS before, 'pending' AS after, CASE WHEN l.is_renewal THEN 'renewed' ELSE 'subscribed' END AS reason, 'subscribe' AS source
    UNION ALL SELECT l.registered + interval '1 second', 'pending', 'active', 'trial_started', 'webhook' WHERE l.kind = 'trial'
    UNION ALL SELECT l.first_paid, 'pending', 'active', 'payment_settled', 'webhook' WHERE l.payments > 0
    UNION ALL SELECT l.last_paid - interval '2 days', 'active', 'suspended', 'payment_failure', 'webhook' WHERE l.kind = 'back' AND l.payments > 1
    UNION ALL SELECT l.last_paid, 'suspended', 'active', 'payment_settled', 'webhook' WHERE l.kind = 'back' AND l.payments > 1
    UNION ALL SELECT l.first_paid + interval '3 days', 'active', 'suspended', 'chargeback', 'webhook' WHERE l.kind = 'won_back' AND l.payments > 1
    UNION ALL SELECT l.first_paid + interval '13 days', 'suspended', 'active', 'dispute_won', 'webhook' WHERE l.kind = 'won_back' AND l.payments > 1
    UNION ALL SELECT l.last_paid + interval '1 month 49 hours', 'active', 'suspended', 'payment_failure', 'webhook' WHERE l.kind IN ('suspended', 'unpaid')
    UNION ALL SELECT l.last_paid + interval '3 days', 'active', 'suspended', 'chargeback', 'webhook' WHERE l.kind IN ('disputed', 'charged_back')
    UNION ALL SELECT l.ended, CASE WHEN l.kind IN ('unpaid', 'charged_back') THEN 'suspended' WHEN l.kind = 'never_paid' THEN 'pending' ELSE 'active' END, l.status,
        CASE l.kind WHEN 'left' THEN 'customer_cancelled' WHEN 'ran_out' THEN 'expired' WHEN 'unpaid' THEN 'payment_failure' WHEN 'removed' THEN 'admin_cancelled'
            WHEN 'charged_back' THEN 'chargeback' WHEN 'replaced' THEN 'replaced' ELSE 'pix_unpaid' END,
        CASE l.kind WHEN 'left' THEN 'customer' WHEN 'removed' THEN 'admin' WHEN 'replaced' THEN 'subscribe' WHEN 'charged_back' THEN 'webhook' ELSE 'job' END
        WHERE l.ended IS NOT NULL
) t
ORDER BY t.at, l.id`},
}

// subscriptionsInsert completes lives of which the last payment is known, or the edge: the
// end of what has ended, else the beginning.
func subscriptionsInsert(known string) string {
	return `
WITH known AS (` + known + `
), placed AS (
    SELECT k.*, CASE WHEN k.last_paid IS NULL AND k.payments > 0 THEN k.edge - CASE k.kind
            WHEN 'ran_out' THEN interval '1 month' WHEN 'unpaid' THEN interval '45 days' WHEN 'charged_back' THEN interval '20 days'
            ELSE interval '3 days' + pg_temp.scale_dice(k.n, 6) * interval '22 days' END
        ELSE k.last_paid END AS paid
    FROM known k
), dated AS (
    SELECT p.*, date_trunc('milliseconds', p.paid - make_interval(months => p.payments - 1)) AS first_paid, date_trunc('milliseconds', p.edge) AS edge_ms,
        CASE WHEN p.kind IN ('automatic', 'yearly', 'ran_out', 'replaced', 'never_paid', 'waiting') OR pg_temp.scale_dice(p.n, 7) < 0.2 THEN 'gwa' ELSE 'gwb' END AS gateway,
        CASE WHEN p.kind IN ('automatic', 'yearly', 'ran_out', 'replaced', 'never_paid', 'waiting') THEN 'pix' ELSE 'credit_card' END AS method,
        CASE WHEN p.kind = 'trial' OR pg_temp.scale_dice(p.n, 8) > 0.85 THEN 'premium' WHEN pg_temp.scale_dice(p.n, 8) > 0.5 THEN 'plus' ELSE 'basic' END AS plan
    FROM placed p
), born AS (
    SELECT d.*, CASE WHEN d.payments > 0 THEN d.first_paid - interval '2 minutes' WHEN d.kind = 'never_paid' THEN d.edge_ms - interval '24 hours' ELSE d.edge_ms END AS registered
    FROM dated d
)
INSERT INTO scale_lives (n, id, customer, customer_id, kind, status, is_renewal, plan_id, gateway, method, price, months, payments, failures, refunded,
    registered, first_paid, last_paid, ended)
SELECT b.n, pg_temp.scale_id(b.registered, '5b', b.n), b.customer,
    CASE WHEN b.n = b.customer THEN pg_temp.scale_id(b.registered, 'c5', b.customer) ELSE '' END, b.kind,
    CASE WHEN b.kind IN ('suspended', 'disputed') THEN 'suspended' WHEN b.kind = 'waiting' THEN 'pending' WHEN b.kind = 'ran_out' THEN 'expired'
        WHEN b.kind IN ('left', 'unpaid', 'removed', 'charged_back', 'replaced', 'never_paid') THEN 'cancelled' ELSE 'active' END,
    b.is_renewal, b.plan, b.gateway, b.method, p.amount_cents, CASE b.kind WHEN 'yearly' THEN 12 ELSE 1 END, b.payments,
    CASE b.kind WHEN 'overdue' THEN 1 + b.n % 2 WHEN 'suspended' THEN 3 WHEN 'unpaid' THEN 3 ELSE 0 END,
    CASE WHEN b.payments > 1 AND b.n % 25 = 7 THEN CASE WHEN b.n % 50 = 7 THEN p.amount_cents ELSE p.amount_cents / 2 END ELSE 0 END,
    b.registered, b.first_paid, b.first_paid + make_interval(months => b.payments - 1),
    CASE WHEN b.kind IN ('left', 'ran_out', 'unpaid', 'removed', 'charged_back', 'replaced', 'never_paid') THEN b.edge_ms END
FROM born b
JOIN subscriptions.plans p ON p.plan_id = b.plan`
}
