-- name: TransitionGetLastReason :one
-- Why the subscription is in its present state.
SELECT reason FROM subscriptions.transitions WHERE subscription_id = @subscription_id ORDER BY id DESC LIMIT 1;

-- name: TransitionGetWithdrawnAt :one
-- When the customer withdrew from the subscription.
SELECT at FROM subscriptions.transitions WHERE subscription_id = @subscription_id AND reason = 'withdrawn' ORDER BY id DESC LIMIT 1;

-- name: TransitionHasActivationSince :one
-- Whether an admin has activated a subscription of the customer's since an instant.
SELECT EXISTS (SELECT 1 FROM subscriptions.transitions WHERE customer_id = @customer_id AND reason = 'admin_activated' AND at >= @since::timestamptz);

-- name: TransitionInsert :exec
INSERT INTO subscriptions.transitions (subscription_id, customer_id, at, from_status, to_status, reason, source, actor_id, event_id)
VALUES (@subscription_id, @customer_id, @at, @from_status, @to_status, @reason, @source, @actor_id, @event_id);

-- name: TransitionList :many
SELECT * FROM subscriptions.transitions WHERE subscription_id = @subscription_id ORDER BY id;

-- name: TransitionListWithdrawals :many
-- The subscription, or one that followed it by renewals, that its customer withdrew
-- from: one at most.
WITH RECURSIVE followers AS (
    SELECT s.id FROM subscriptions.subscriptions s WHERE s.id = @subscription_id
    UNION
    SELECT s.id FROM followers f JOIN subscriptions.subscriptions s ON s.renews_id = f.id
)
SELECT t.subscription_id FROM followers f
CROSS JOIN LATERAL (SELECT * FROM subscriptions.transitions t WHERE t.subscription_id = f.id ORDER BY t.id DESC LIMIT 1) t
WHERE t.reason = 'withdrawn';
