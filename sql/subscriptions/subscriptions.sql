-- name: SubscriptionGetLatestBegun :one
-- The last subscription of the customer that has begun: a try that came to nothing is none.
SELECT * FROM subscriptions.subscriptions WHERE customer_id = @customer_id AND started_at IS NOT NULL ORDER BY register_date DESC, id DESC LIMIT 1;

-- name: SubscriptionGetLive :one
-- A renewal that waits stands behind the one that it renews.
SELECT * FROM subscriptions.subscriptions
WHERE customer_id = @customer_id AND status IN ('active', 'pending', 'suspended')
ORDER BY (status = 'pending' AND renews_id IS NOT NULL) LIMIT 1;

-- name: SubscriptionGet :one
SELECT * FROM subscriptions.subscriptions WHERE id = @id;

-- name: SubscriptionCheckAbsent :one
-- What a subscription and its ledger have none of (subscriptions.absent, payments.absent_since), and a deletion of the account.
SELECT l.payment::boolean AS payment, l.others::boolean AS others, l.failures::boolean AS failures, a.charge::boolean AS charge,
    a.pauses::boolean AS pauses, a.charge_moves::boolean AS charge_moves, c.has_customer::boolean AS deletion
FROM payments.absent_since(@gateway, @payment_id::text, 'subscription', @subscription_id, @since) AS l (payment, others, failures)
CROSS JOIN subscriptions.absent(@subscription_id, @gateway, @payment_id::text, @reference::text) AS a (charge, pauses, charge_moves)
CROSS JOIN accounts.has_customer(@customer_id) AS c (has_customer);

-- name: SubscriptionGetByAuthorization :one
SELECT * FROM subscriptions.subscriptions WHERE gwa_pix_auth_id = @gwa_pix_auth_id;

-- name: SubscriptionGetByConciliation :one
SELECT * FROM subscriptions.subscriptions WHERE pix_conciliation_id = @pix_conciliation_id;

-- name: SubscriptionGetOfGatewayCustomer :one
-- The newest of a gateway's customer; one that waits for its first payment only when there is no other.
SELECT * FROM subscriptions.subscriptions
WHERE gateway = @gateway AND coalesce(gwa_customer_id, gwb_customer_id) = @gateway_customer_id::text
ORDER BY (status = 'pending'), register_date DESC, id DESC LIMIT 1;

-- name: SubscriptionHasOpenIntent :one
SELECT EXISTS (SELECT 1 FROM subscriptions.subscriptions WHERE customer_id = @customer_id AND gateway = @gateway AND intent_open);

-- name: SubscriptionGetByGWAID :one
SELECT * FROM subscriptions.subscriptions WHERE gwa_subscription_id = @gwa_subscription_id;

-- name: SubscriptionGetByGWBID :one
SELECT * FROM subscriptions.subscriptions WHERE gwb_subscription_id = @gwb_subscription_id;

-- name: SubscriptionGetByPixPayment :one
SELECT * FROM subscriptions.subscriptions WHERE gateway = @gateway AND pix_payment_id = @pix_payment_id;

-- name: SubscriptionLock :one
SELECT * FROM subscriptions.subscriptions WHERE id = @id FOR UPDATE;

-- name: SubscriptionLockByGWAID :one
-- Locks the customer and then the row, which is not joined before the customer is held.
WITH named AS MATERIALIZED (
    SELECT n.id, accounts.lock_customer(n.customer_id) AS is_customer
    FROM subscriptions.subscriptions n WHERE n.gwa_subscription_id = @gwa_subscription_id
)
SELECT s.* FROM named JOIN subscriptions.subscriptions s ON s.id = named.id
WHERE named.is_customer IS NOT NULL FOR UPDATE OF s;

-- name: SubscriptionLockByGWBID :one
-- As SubscriptionLockByGWAID.
WITH named AS MATERIALIZED (
    SELECT n.id, accounts.lock_customer(n.customer_id) AS is_customer
    FROM subscriptions.subscriptions n WHERE n.gwb_subscription_id = @gwb_subscription_id
)
SELECT s.* FROM named JOIN subscriptions.subscriptions s ON s.id = named.id
WHERE named.is_customer IS NOT NULL FOR UPDATE OF s;

-- name: SubscriptionLockManyByGWBID :many
-- SubscriptionLockManyByGWBID locks the customers of recurrences at gateway B, and then the rows, without those that
-- somebody else holds; with what each and its ledger have none of once the customer is held. The lists pass a subquery,
-- so that the plan is made once.
WITH lists AS MATERIALIZED (
    SELECT @places::integer[] AS places, @gwb_subscription_ids::text[] AS gwb_subscription_ids, @payment_ids::text[] AS payment_ids,
        @refs::text[] AS refs, @sinces::timestamptz[] AS sinces
), found AS MATERIALIZED (
    SELECT g.place, g.payment_id, g.ref, g.since, f.id, f.customer_id
    FROM (SELECT unnest(l.places) AS place, unnest(l.gwb_subscription_ids) AS gwb_subscription_id, unnest(l.payment_ids) AS payment_id,
        unnest(l.refs) AS ref, unnest(l.sinces) AS since FROM lists l) g
    -- LIMIT holds the planner to the index, whatever it believes of how many have such an id.
    CROSS JOIN LATERAL (SELECT i.id, i.customer_id FROM subscriptions.subscriptions i
        WHERE i.gwb_subscription_id = g.gwb_subscription_id LIMIT 1) f
), held AS MATERIALIZED (
    SELECT f.* FROM found f WHERE accounts.try_lock_customer(f.customer_id)
)
SELECT h.place::integer AS place, sqlc.embed(s), l.payment::boolean AS payment, l.others::boolean AS others, l.failures::boolean AS failures,
    a.charge::boolean AS charge, a.pauses::boolean AS pauses, a.charge_moves::boolean AS charge_moves
FROM held h JOIN subscriptions.subscriptions s ON s.id = h.id
CROSS JOIN LATERAL payments.absent_since(s.gateway, h.payment_id, 'subscription', h.id, h.since) AS l (payment, others, failures)
CROSS JOIN LATERAL subscriptions.absent(h.id, s.gateway, h.payment_id, h.ref) AS a (charge, pauses, charge_moves)
FOR UPDATE OF s SKIP LOCKED;

-- name: SubscriptionGetWaitingRenewal :one
-- The renewal that waits for the gateway to take its card.
SELECT * FROM subscriptions.subscriptions WHERE customer_id = @customer_id AND status = 'pending' AND renews_id IS NOT NULL;

-- name: SubscriptionHasBegun :one
-- Whether any subscription of the customer has begun.
SELECT EXISTS (SELECT 1 FROM subscriptions.subscriptions WHERE customer_id = @customer_id AND started_at IS NOT NULL);

-- name: SubscriptionInsert :exec
INSERT INTO subscriptions.subscriptions (
    id, customer_id, plan_id, gateway, payment_method, status, price_cents, period_months, trial_days,
    gwa_customer_id, gwb_customer_id, gwb_price_id, pix_automatic, promo_code, first_amount_cents, anchor_day, renews_id, starts_at, intent_open,
    document_created_by_id, register_date, register_update_date
) VALUES (
    @id, @customer_id, @plan_id, @gateway, @payment_method, 'pending', @price_cents, @period_months, @trial_days,
    @gwa_customer_id, @gwb_customer_id, @gwb_price_id, @pix_automatic, @promo_code, @first_amount_cents, @anchor_day, @renews_id, @starts_at, true,
    @customer_id, @now, @now
);

-- name: SubscriptionListCustomers :many
-- In order, so that two who lock them all cannot deadlock.
SELECT DISTINCT customer_id FROM subscriptions.subscriptions WHERE id = ANY(@ids::text[]) ORDER BY customer_id;

-- name: SubscriptionListDueDebits :many
-- Automatic PIX whose next cycle begins before the horizon and whose debit nobody
-- has ordered or set about since the instant: first the debit's own job repeats.
SELECT s.id FROM subscriptions.subscriptions s
WHERE s.status = 'active' AND s.pix_automatic AND s.gwa_pix_auth_id IS NOT NULL AND s.next_billing_date <= @horizon
  AND NOT EXISTS (
    SELECT 1 FROM subscriptions.debits d
    WHERE d.subscription_id = s.id
      AND d.cycle = (s.next_billing_date AT TIME ZONE @zone::text)::date
      AND (d.gateway_payment_id IS NOT NULL OR d.tried_at > @since))
ORDER BY s.next_billing_date LIMIT 500;

-- name: SubscriptionListDueExpirations :many
-- An extension whose recurrence goes on after it is over sooner: its end is taken away.
SELECT s.id FROM subscriptions.subscriptions s
WHERE s.status IN ('active', 'suspended') AND s.expires_at <= @handed_over AND (s.expires_at <= @now
  OR NOT s.cancel_at_period_end AND s.gateway_deleted_at IS NULL AND EXISTS (
    SELECT 1 FROM subscriptions.charge_moves m
    WHERE m.subscription_id = s.id AND m.to_at >= s.expires_at - interval '1 second' AND m.state IN ('open', 'done')))
ORDER BY s.expires_at LIMIT 500;

-- name: SubscriptionListDuePix :many
-- PIX payments nobody made: the code has run out, or the row waits too long.
SELECT id FROM subscriptions.subscriptions
WHERE status = 'pending' AND payment_method = 'pix' AND NOT intent_open
  AND (pix_expires_at <= @now OR register_date <= @pending_since)
ORDER BY register_date LIMIT 500;

-- name: SubscriptionListDueEnds :many
-- Ended subscriptions of which the gateway has not confirmed that nothing runs.
SELECT id FROM subscriptions.subscriptions
WHERE status IN ('cancelled', 'expired') AND gateway_ended_at IS NULL AND ended_at BETWEEN @since AND @before
  AND (gwa_subscription_id IS NOT NULL OR gwb_subscription_id IS NOT NULL OR gwa_pix_auth_id IS NOT NULL)
ORDER BY ended_at LIMIT 500;

-- name: SubscriptionListDueStops :many
-- Subscriptions that end with their paid time, whose recurrence at gateway A, or, once
-- they were opened again, at either gateway, has not been stopped since the instant. The
-- gateway is named, not given, as in the index that finds them, subscriptions_stops_open.
SELECT id FROM subscriptions.subscriptions
WHERE status IN ('active', 'suspended') AND gateway_deleted_at IS NULL
  AND (gateway_end_open_since < @before::timestamptz
    OR cancel_at_period_end AND gateway = 'gwa' AND expires_at IS NOT NULL AND (gwa_subscription_id IS NOT NULL OR gwa_pix_auth_id IS NOT NULL)
      AND register_update_date < @before)
ORDER BY register_update_date LIMIT 500;

-- name: SubscriptionListDuePeriodEnds :many
-- Of a gateway that ends a recurrence with its period: whose end has to be held against what stands there.
SELECT id FROM subscriptions.subscriptions
WHERE period_end_look_at <= @now AND gateway = @gateway AND gwb_subscription_id IS NOT NULL AND status IN ('active', 'suspended', 'pending')
ORDER BY period_end_look_at LIMIT 100;

-- name: SubscriptionListOverdue :many
-- Live recurrences whose period has ended without news: what the webhooks may
-- have missed. A suspended automatic PIX is debited no more.
SELECT * FROM subscriptions.subscriptions
WHERE status IN ('active', 'suspended') AND next_billing_date BETWEEN @since AND @before
  AND (gwa_subscription_id IS NOT NULL OR gwb_subscription_id IS NOT NULL OR gwa_pix_auth_id IS NOT NULL AND status = 'active')
ORDER BY next_billing_date LIMIT @most;

-- name: SubscriptionGetLastRenewal :one
-- The subscription, or that of those which followed it by renewals that goes on: one at most does.
WITH RECURSIVE followers AS (
    SELECT s.id, s.status, 0 AS steps FROM subscriptions.subscriptions s WHERE s.id = @id
    UNION ALL
    SELECT s.id, s.status, f.steps + 1 FROM followers f JOIN subscriptions.subscriptions s ON s.renews_id = f.id
)
SELECT s.* FROM followers f JOIN subscriptions.subscriptions s ON s.id = f.id
ORDER BY f.status IN ('active', 'suspended') DESC, f.steps LIMIT 1;

-- name: SubscriptionListRenewals :many
-- The subscription and all that it followed by renewals, newest first.
WITH RECURSIVE chain AS (
    SELECT s.id, s.renews_id, 0 AS steps FROM subscriptions.subscriptions s WHERE s.id = @id
    UNION ALL
    SELECT s.id, s.renews_id, c.steps + 1 FROM chain c JOIN subscriptions.subscriptions s ON s.id = c.renews_id
)
SELECT s.* FROM chain c JOIN subscriptions.subscriptions s ON s.id = c.id ORDER BY c.steps;

-- name: SubscriptionListStats :many
-- Subscriptions by gateway and status, and what the active ones pay a month.
SELECT gateway, status, count(*) AS subscriptions, coalesce(sum(price_cents), 0)::bigint AS monthly_cents
FROM subscriptions.subscriptions GROUP BY gateway, status;

-- name: SubscriptionLockRenewals :many
-- What followed the subscription by renewals, oldest first, for changes.
WITH RECURSIVE renewals AS (
    SELECT s.id, 0 AS steps FROM subscriptions.subscriptions s WHERE s.id = @id
    UNION ALL
    SELECT s.id, r.steps + 1 FROM renewals r JOIN subscriptions.subscriptions s ON s.renews_id = r.id
)
SELECT s.* FROM renewals r JOIN subscriptions.subscriptions s ON s.id = r.id WHERE r.steps > 0 ORDER BY s.id FOR UPDATE OF s;

-- name: SubscriptionGetDeciding :one
-- The subscription that decides whether the customer may watch: the one that lets them, else a live one, else the last;
-- with its last move.
SELECT sqlc.embed(s), t.reason AS move_reason, t.source AS move_source, t.at AS moved_at
FROM subscriptions.subscriptions s
CROSS JOIN LATERAL (
    (SELECT m.reason, m.source, m.at FROM subscriptions.transitions m WHERE m.subscription_id = s.id ORDER BY m.id DESC LIMIT 1)
    UNION ALL SELECT '', '', s.register_date
    LIMIT 1
) t
WHERE s.customer_id = @customer_id
ORDER BY s.status = 'active' AND (s.expires_at IS NULL OR s.expires_at > @at::timestamptz) DESC,
    s.status IN ('active', 'pending', 'suspended') DESC, s.register_date DESC, s.id DESC
LIMIT 1;
