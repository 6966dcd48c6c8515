-- name: RedemptionConfirm :execrows
-- A held code is redeemed by its customer.
UPDATE promos.redemptions SET redeemed_at = @now, origin = @origin, tickets = @tickets
WHERE promo_code_id = @promo_code_id AND customer_id = @customer_id AND redeemed_at IS NULL;

-- name: RedemptionGet :one
SELECT * FROM promos.redemptions WHERE promo_code_id = @promo_code_id AND customer_id = @customer_id;

-- name: RedemptionHold :execrows
-- A subscription takes a code that no other has. One that was redeemed and has
-- lowered no month yet may be taken.
INSERT INTO promos.redemptions (promo_code_id, customer_id, code, code_type, origin, subscription_id, created_at)
VALUES (@promo_code_id, @customer_id, @code, 'promo', 'subscription', @subscription_id::text, @now)
ON CONFLICT (promo_code_id, customer_id) DO UPDATE SET subscription_id = excluded.subscription_id
WHERE redemptions.paid_at IS NULL AND (redemptions.subscription_id IS NULL OR redemptions.subscription_id = excluded.subscription_id);

-- name: RedemptionInsert :exec
INSERT INTO promos.redemptions (promo_code_id, customer_id, code, code_type, origin, tickets, redeemed_at, created_at)
VALUES (@promo_code_id, @customer_id, @code, @code_type, @origin, @tickets, @now::timestamptz, @now);

-- name: RedemptionInsertTargets :many
-- Those targets who have redeemed the code already are left out.
INSERT INTO promos.redemptions (promo_code_id, customer_id, code, code_type, origin, tickets, redeemed_at, created_at)
SELECT @promo_code_id, id, @code, @code_type, 'target', 1, @now::timestamptz, @now FROM unnest(@customer_ids::text[]) AS id ORDER BY id
ON CONFLICT (promo_code_id, customer_id) DO NOTHING
RETURNING customer_id;

-- name: RedemptionListOfCustomer :many
SELECT * FROM promos.redemptions WHERE customer_id = @customer_id ORDER BY created_at, id;

-- name: RedemptionPay :execrows
-- The subscription that holds the code is paid.
UPDATE promos.redemptions SET paid_at = @now::timestamptz, redeemed_at = coalesce(redeemed_at, @now::timestamptz)
WHERE customer_id = @customer_id AND subscription_id = @subscription_id::text AND paid_at IS NULL;

-- name: RedemptionPayLate :execrows
-- The subscription is paid after the code was released. Another that holds or
-- has used it meanwhile keeps it.
INSERT INTO promos.redemptions (promo_code_id, customer_id, code, code_type, origin, subscription_id, paid_at, redeemed_at, created_at)
VALUES (@promo_code_id, @customer_id, @code, 'promo', 'subscription', @subscription_id::text, @now::timestamptz, @now::timestamptz, @now)
ON CONFLICT (promo_code_id, customer_id) DO UPDATE SET subscription_id = excluded.subscription_id, paid_at = excluded.paid_at
WHERE redemptions.subscription_id IS NULL;

-- name: RedemptionRelease :exec
-- Gives back what was only held.
DELETE FROM promos.redemptions WHERE customer_id = @customer_id AND subscription_id = @subscription_id::text AND redeemed_at IS NULL;

-- name: RedemptionReleaseRedeemed :exec
-- What the customer has redeemed stays redeemed, and is free for another subscription.
UPDATE promos.redemptions SET subscription_id = NULL WHERE customer_id = @customer_id AND subscription_id = @subscription_id::text AND redeemed_at IS NOT NULL AND paid_at IS NULL;

-- name: RedemptionListTop :many
SELECT c.id, c.code, c.code_type, c.title, c.is_active, count(*)::int AS redemptions, sum(r.tickets)::int AS tickets
FROM promos.redemptions r JOIN promos.promo_codes c ON c.id = r.promo_code_id
WHERE r.redeemed_at IS NOT NULL GROUP BY c.id ORDER BY count(*) DESC, sum(r.tickets) DESC, c.id LIMIT 10;

-- name: RedemptionTotalsGet :one
SELECT count(*)::int AS redemptions, coalesce(sum(tickets), 0)::int AS tickets FROM promos.redemptions WHERE redeemed_at IS NOT NULL;
