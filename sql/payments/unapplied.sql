-- name: UnappliedInsert :one
-- UnappliedInsert puts a case on the list with the first row of its history, and
-- returns its id; no row when it is there already.
WITH added AS (
    INSERT INTO payments.unapplied_payments (
        id, kind, gateway, subject, gateway_payment_id, amount_cents, customer_id, subscription_id, order_id, paid_at, note, automatic, bought, taken_back, reference,
        gateway_customer_id, created_at, updated_at
    ) VALUES (
        @id, @kind, @gateway, @subject, sqlc.narg(gateway_payment_id), sqlc.narg(amount_cents), sqlc.narg(customer_id), sqlc.narg(subscription_id),
        sqlc.narg(order_id), sqlc.narg(paid_at), sqlc.narg(note), @automatic, @bought, @taken_back, sqlc.narg(reference),
        sqlc.narg(gateway_customer_id), @at, @at
    )
    ON CONFLICT DO NOTHING
    RETURNING id, state, amount_cents
), noted AS (
    INSERT INTO payments.unapplied_decisions (unapplied_id, at, to_state, source, amount_cents, reason)
    SELECT id, @at, state, 'platform', amount_cents, sqlc.narg(note) FROM added
)
SELECT id FROM added;

-- name: UnappliedAmend :exec
-- UnappliedAmend rewrites amount and note of a case that nobody has decided: the payer's bank has taken back so much.
UPDATE payments.unapplied_payments SET amount_cents = @amount_cents, note = @note, taken_back = true, updated_at = @at
WHERE gateway = @gateway AND subject = @subject AND kind = 'unknown' AND state = 'open' AND NOT automatic;

-- name: UnappliedSetPayment :exec
-- UnappliedSetPayment adds to a case what was not known of it: a kind says more than
-- unknown, a value more than none. What nobody could place is refunded by itself once it is known what it is.
-- Where it was what the payer's bank took back, it is from now on what is left of the payment.
UPDATE payments.unapplied_payments SET
    kind = CASE WHEN kind = 'unknown' AND state = 'open' AND coalesce(amount_cents, sqlc.narg(amount_cents)::bigint) IS NOT NULL THEN @kind ELSE kind END,
    automatic = automatic OR kind = 'unknown' AND state = 'open' AND @kind <> 'unknown' AND @automatic::boolean,
    taken_back = taken_back AND NOT (state = 'open' AND @kind <> 'unknown'),
    amount_cents = CASE WHEN taken_back AND state = 'open' AND @kind <> 'unknown' THEN sqlc.narg(amount_cents) ELSE coalesce(amount_cents, sqlc.narg(amount_cents)) END,
    customer_id = coalesce(customer_id, sqlc.narg(customer_id)),
    note = CASE WHEN taken_back AND state = 'open' AND @kind <> 'unknown' THEN sqlc.narg(note)
        WHEN customer_id IS NULL AND coalesce(customer_id, sqlc.narg(customer_id)) IS NOT NULL THEN coalesce(replace(note, @no_customer::text, @its_customer::text), sqlc.narg(note))
        ELSE coalesce(note, sqlc.narg(note)) END,
    subscription_id = coalesce(subscription_id, sqlc.narg(subscription_id)), order_id = coalesce(order_id, sqlc.narg(order_id)),
    paid_at = coalesce(paid_at, sqlc.narg(paid_at)),
    reference = coalesce(reference, sqlc.narg(reference)), updated_at = @at
WHERE gateway = @gateway AND subject = @subject
  AND (kind = 'unknown' AND @kind <> 'unknown' OR amount_cents IS NULL OR customer_id IS NULL OR subscription_id IS NULL OR order_id IS NULL OR paid_at IS NULL OR note IS NULL);

-- name: UnappliedListOfNobody :many
-- UnappliedListOfNobody lists open money of a gateway's customer who was not known here, that no ledger has.
SELECT u.id, u.gateway, u.gateway_customer_id::text AS gateway_customer_id FROM payments.unapplied_payments u
WHERE u.state = 'open' AND u.customer_id IS NULL AND u.gateway_customer_id IS NOT NULL
  AND NOT EXISTS (SELECT FROM payments.payments p WHERE p.gateway = u.gateway AND p.gateway_payment_id = u.gateway_payment_id)
ORDER BY u.created_at LIMIT @most;

-- name: UnappliedFindCustomer :exec
-- UnappliedFindCustomer gives a case the customer who is known by now, and has its note say so.
UPDATE payments.unapplied_payments SET customer_id = @customer_id::text, note = replace(note, @no_customer::text, @its_customer::text), updated_at = @at
WHERE id = @id AND state = 'open' AND customer_id IS NULL;

-- name: UnappliedMarkMailed :many
-- UnappliedMarkMailed lists, once a day, the open money that nobody here is known to have paid, and notes that it was told.
UPDATE payments.unapplied_payments SET told_at = sqlc.arg(at)::timestamptz
WHERE kind = 'unknown' AND state = 'open' AND customer_id IS NULL AND gateway_payment_id IS NOT NULL
  AND (told_at IS NULL OR told_at <= sqlc.arg(before)::timestamptz)
RETURNING gateway, gateway_payment_id::text AS gateway_payment_id, coalesce(amount_cents, 0)::bigint AS amount_cents, coalesce(note, '')::text AS note;

-- name: UnappliedListEnded :many
-- UnappliedListEnded lists what waits for an answer that has come.
SELECT u.gateway, u.subject FROM payments.unapplied_payments u
WHERE u.kind = 'unknown' AND u.state = 'open' AND u.gateway_payment_id IS NULL
  AND EXISTS (SELECT FROM payments.intents i WHERE i.subject_id = u.subject AND i.gateway = u.gateway AND i.told_at IS NOT NULL)
  AND NOT EXISTS (SELECT FROM payments.intents i WHERE i.subject_id = u.subject AND i.gateway = u.gateway AND i.told_at IS NOT NULL AND i.state = 'open')
ORDER BY u.created_at LIMIT @most;

-- name: UnappliedLockBySubject :one
-- UnappliedLockBySubject finds and locks the case of something that no payment is known of.
SELECT * FROM payments.unapplied_payments WHERE gateway = @gateway AND subject = @subject AND gateway_payment_id IS NULL FOR UPDATE;

-- name: UnappliedBudgetLock :exec
-- UnappliedBudgetLock lets automatic refunds be claimed one after the other.
SELECT pg_advisory_xact_lock(hashtextextended('payments.unapplied_payments/automatic', 0));

-- name: UnappliedDecide :exec
INSERT INTO payments.unapplied_decisions (unapplied_id, at, from_state, to_state, source, admin_id, amount_cents, reason)
VALUES (@unapplied_id, @at, @from_state, @to_state, @source, sqlc.narg(admin_id), sqlc.narg(amount_cents), sqlc.narg(reason));

-- name: UnappliedListDue :many
-- UnappliedListDue lists what may be refunded by itself, and what somebody decided to
-- refund and may not have gone on with, the oldest first.
SELECT id FROM payments.unapplied_payments
WHERE state = 'open' AND automatic AND coalesce(next_try_at, '-infinity') <= @now
   OR state = 'refunding' AND updated_at <= @left_since
ORDER BY created_at LIMIT @most;

-- name: UnappliedListUnconfirmed :many
-- UnappliedListUnconfirmed lists open cases of booked payments that an event alone had told, and that are to be asked for again.
SELECT u.* FROM payments.unapplied_payments u
JOIN payments.payments p ON p.gateway = u.gateway AND p.gateway_payment_id = u.gateway_payment_id
WHERE u.gateway = @gateway AND u.kind = 'unknown' AND u.state = 'open' AND NOT u.automatic AND NOT u.bought AND NOT u.taken_back AND p.purpose <> 'customer'
  AND coalesce(u.next_try_at, '-infinity') <= sqlc.arg(due)::timestamptz
ORDER BY u.created_at LIMIT @most;

-- name: UnappliedConfirmAgain :one
-- UnappliedConfirmAgain has a case that waits asked for again: an event has told its payment once more.
UPDATE payments.unapplied_payments SET next_try_at = NULL
WHERE gateway = @gateway AND subject = @subject AND kind = 'unknown' AND state = 'open' RETURNING id;

-- name: UnappliedFind :one
SELECT * FROM payments.unapplied_payments WHERE id = @id;

-- name: UnappliedGiveUp :exec
-- UnappliedGiveUp leaves a case to people.
UPDATE payments.unapplied_payments SET automatic = false, note = @note, updated_at = @at WHERE id = @id AND state = 'open';

-- name: UnappliedGetLastDecision :one
SELECT * FROM payments.unapplied_decisions WHERE unapplied_id = @unapplied_id ORDER BY id DESC LIMIT 1;

-- name: UnappliedLowerAmount :exec
-- UnappliedLowerAmount lowers what an open case is about to what is left of its payment.
UPDATE payments.unapplied_payments SET amount_cents = @amount_cents, updated_at = @at
WHERE id = @id AND state = 'open' AND NOT taken_back AND amount_cents > @amount_cents;

-- name: UnappliedListExtended :many
-- UnappliedListExtended finds and locks the payments that have lengthened a subscription
-- since an instant.
SELECT * FROM payments.unapplied_payments u
WHERE u.subscription_id = @subscription_id AND u.state = 'extended'
  AND EXISTS (SELECT FROM payments.unapplied_decisions d WHERE d.unapplied_id = u.id AND d.to_state = 'extended' AND d.at >= @since)
ORDER BY u.id FOR UPDATE;

-- name: UnappliedLock :one
SELECT * FROM payments.unapplied_payments WHERE id = @id FOR UPDATE;

-- name: UnappliedListLost :many
-- UnappliedListLost lists what is open although lost disputes, and what was given back beside them, took all of the payment.
SELECT u.gateway, p.gateway_payment_id FROM payments.unapplied_payments u
JOIN payments.payments p ON p.gateway = u.gateway AND p.gateway_payment_id = u.gateway_payment_id
JOIN LATERAL (
    SELECT sum(d.amount_cents) AS cents FROM payments.disputes d
    WHERE d.gateway = p.gateway AND d.state = 'lost' AND d.payment_ref IN (p.gateway_payment_id, p.payment_intent_id, p.invoice_id)
) lost ON lost.cents > 0
WHERE u.state = 'open' AND p.amount_cents <= lost.cents + (
    SELECT coalesce(sum(r.amount_cents), 0) FROM payments.refunds r
    WHERE r.gateway = p.gateway AND r.payment_ref = coalesce(p.payment_intent_id, p.gateway_payment_id) AND r.status <> 'failed')
ORDER BY u.created_at LIMIT @most;

-- name: UnappliedMove :execrows
-- UnappliedMove changes the state from the one that was seen: none when somebody
-- else was faster.
UPDATE payments.unapplied_payments SET
    state = @to_state, kind = coalesce(sqlc.narg(kind)::text, kind), subscription_id = coalesce(sqlc.narg(subscription_id), subscription_id),
    note = coalesce(sqlc.narg(note)::text, note), automatic = automatic AND @automatic::boolean, updated_at = @at
WHERE id = @id AND state = @from_state;

-- name: UnappliedLockOfPayment :many
-- UnappliedLockOfPayment finds and locks the case of a payment that refunds name, with
-- what the ledger has of it.
SELECT sqlc.embed(u), p.amount_cents AS paid_cents, p.purpose
FROM payments.unapplied_payments u
JOIN payments.payments p ON p.gateway = u.gateway AND p.gateway_payment_id = u.gateway_payment_id
WHERE p.gateway = @gateway AND (p.gateway_payment_id = @payment_ref::text OR p.payment_intent_id = @payment_ref::text)
FOR UPDATE OF u;

-- name: UnappliedCountOpen :many
-- UnappliedCountOpen counts what waits for a decision, by kind.
SELECT kind, count(*) FROM payments.unapplied_payments WHERE state = 'open' GROUP BY kind;

-- name: UnappliedPostpone :exec
-- UnappliedPostpone leaves a case of which the gateway says nothing until later.
UPDATE payments.unapplied_payments SET tries = tries + 1, next_try_at = @next_try_at WHERE id = @id AND state = 'open';

-- name: UnappliedHasAutomaticRefund :one
-- UnappliedHasAutomaticRefund reports whether the list gives a payment back without a person's decision, or is at it.
SELECT EXISTS (SELECT FROM payments.unapplied_payments
    WHERE gateway = @gateway AND subject = @subject AND automatic AND state IN ('open', 'refunding'));

-- name: UnappliedSumSpent :one
-- UnappliedSumSpent counts what was refunded by itself: how many since hour_ago, how
-- much since day_ago.
WITH claimed AS (
    SELECT d.unapplied_id AS claimed_id, max(d.at)::timestamptz AS claimed_at FROM payments.unapplied_decisions d
    WHERE d.source = 'platform' AND d.to_state = 'refunding' AND d.at > @day_ago GROUP BY d.unapplied_id
)
SELECT count(*) FILTER (WHERE claimed.claimed_at > @hour_ago::timestamptz) AS claims, coalesce(sum(u.amount_cents), 0)::bigint AS cents
FROM claimed JOIN payments.unapplied_payments u ON u.id = claimed.claimed_id AND u.state <> 'open';

-- name: UnappliedStateRead :one
SELECT state FROM payments.unapplied_payments WHERE gateway = @gateway AND subject = @subject;

-- name: UnappliedIsUnused :one
-- UnappliedIsUnused reports whether a payment, by any of its names, gave nobody anything.
SELECT EXISTS (SELECT 1 FROM payments.bought_nothing n
    WHERE n.gateway = @gateway AND (n.gateway_payment_id = @payment_ref::text OR n.payment_intent_id = @payment_ref::text));
