-- 100,000 customers, each with a subscription, a settled payment, an event, an order
-- of that event, a ticket, a redeemed code and a video begun. Every hundredth
-- subscription is overdue. Customer 1 has a history of 2,000 payments.
CREATE FUNCTION pg_temp.id(kind text, n bigint) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT kind || lpad(to_hex(n), 23, '0') $$;

INSERT INTO subscriptions.plans (plan_id, name, amount_cents, register_date, register_update_date) VALUES ('plus', 'Plus', 4990, now(), now());

ALTER TABLE accounts.users DISABLE TRIGGER USER;
INSERT INTO accounts.users (id, user_type, username, email, full_name, tax_id, created_at, updated_at)
SELECT pg_temp.id('a', n), 'customer', 'c' || n, 'c' || n || '@example.com', 'Customer ' || n, lpad(n::text, 11, '0'), now() - interval '400 days', now()
FROM generate_series(1, 100000) n;
ALTER TABLE accounts.users ENABLE TRIGGER USER;
INSERT INTO accounts.logins (login, user_id) SELECT email, id FROM accounts.users WHERE email LIKE 'c%@example.com';

INSERT INTO subscriptions.subscriptions (id, customer_id, plan_id, gateway, payment_method, status, price_cents, period_months, started_at,
    next_billing_date, last_payment_at, payment_failures, intent_open, register_date, register_update_date)
SELECT pg_temp.id('b', n), pg_temp.id('a', n), 'plus', CASE WHEN n % 2 = 0 THEN 'gwa' ELSE 'gwb' END, 'credit_card', CASE WHEN n % 200 = 0 THEN 'suspended' ELSE 'active' END,
    4990, 1, now() - interval '300 days', now() + (n % 30 - 20) * interval '1 day', now() - interval '20 days', CASE WHEN n % 100 = 0 THEN 1 ELSE 0 END, false, now() - n * interval '1 minute', now()
FROM generate_series(1, 100000) n;
INSERT INTO subscriptions.transitions (subscription_id, customer_id, at, from_status, to_status, reason, source)
SELECT pg_temp.id('b', n), pg_temp.id('a', n), now() - n * interval '1 minute', NULL, 'active', 'payment_settled', 'webhook' FROM generate_series(1, 100000) n;

INSERT INTO payments.payments (gateway, gateway_payment_id, purpose, local_id, customer_id, amount_cents, method, native_status, settled_at, created_at, updated_at)
SELECT 'gwa', 'pay_' || n, 'subscription', pg_temp.id('b', c), pg_temp.id('a', c), 4990, 'credit_card', 'RECEIVED', now() - n * interval '1 minute', now(), now()
FROM (SELECT n, CASE WHEN n > 100000 THEN 1 ELSE n END AS c FROM generate_series(1, 102000) n) x;
INSERT INTO payments.failed_attempts (gateway, gateway_payment_id, attempt, purpose, local_id, amount_cents, failed_at, created_at)
SELECT 'gwa', 'fail_' || n, 1, 'subscription', pg_temp.id('b', n), 4990, now() - interval '3 days', now() FROM generate_series(100, 100000, 100) n;
INSERT INTO payments.refunds (gateway, payment_ref, purpose, local_id, customer_id, amount_cents, status, source, event_id, event_type, requested_at, refunded_at, created_at, updated_at)
SELECT 'gwa', 'pay_' || n, 'subscription', pg_temp.id('b', n), pg_temp.id('a', n), 100, 'done', 'gateway', 'e' || n, 'PAYMENT_REFUNDED', now(), now(), now(), now()
FROM generate_series(1, 100000, 10) n;

INSERT INTO tickets.events (id, title, event_date, capacity, event_type, is_active)
SELECT pg_temp.id('c', n), 'Event ' || n, now() + (n - 50000) * interval '1 hour', 100, (ARRAY['movie_premiere', 'lecture', 'screening', 'other'])[n % 4 + 1], n % 3 > 0
FROM generate_series(1, 100000) n;
INSERT INTO tickets.orders (id, customer_id, event_id, quantity, unit_price_cents, total_cents, gateway, payment_method, payment_status, state, paid_at, intent_open, created_at, updated_at)
SELECT pg_temp.id('d', n), pg_temp.id('a', n), pg_temp.id('c', n), 1, 5000, 5000, 'gwa', 'pix', 'CONFIRMED', 'paid', now(), false, now() - n * interval '1 minute', now()
FROM generate_series(1, 100000) n;
INSERT INTO tickets.customers (id, name, email) SELECT pg_temp.id('a', n), 'Customer ' || n, 'c' || n || '@example.com' FROM generate_series(1, 100000) n;
ALTER TABLE tickets.tickets DISABLE TRIGGER USER;
INSERT INTO tickets.tickets (event_id, customer_id, order_id, title, status, reason)
SELECT pg_temp.id('c', n), pg_temp.id('a', n), pg_temp.id('d', n), 'Ticket', 'available', 'paid' FROM generate_series(1, 100000) n;
ALTER TABLE tickets.tickets ENABLE TRIGGER USER;

INSERT INTO promos.promo_codes (id, code, title, code_type, event_id)
SELECT pg_temp.id('e', n), upper(lpad(to_hex(n), 6, '0')), 'Code ' || n, 'ticket', pg_temp.id('c', n * 50) FROM generate_series(1, 2000) n;
INSERT INTO promos.redemptions (promo_code_id, customer_id, code, code_type, origin, tickets, redeemed_at, created_at)
SELECT pg_temp.id('e', n % 2000 + 1), pg_temp.id('a', n), upper(lpad(to_hex(n % 2000 + 1), 6, '0')), 'ticket', 'redeem', 1, now(), now() FROM generate_series(1, 100000) n;

INSERT INTO catalog.videos (id, slug, title, video_id, duration, release_date, register_date, register_update_date)
VALUES (pg_temp.id('f', 1), 'a-film', 'A film', 'https://videos.example.com/1', 90, now(), now(), now());
INSERT INTO catalog.watch_history (user_id, video_id, timeline, updated_at) SELECT pg_temp.id('a', n), pg_temp.id('f', 1), 60, now() FROM generate_series(1, 100000) n;
