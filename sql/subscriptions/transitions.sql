-- name: GetLastReason :one
-- Why the subscription is in its present state.
SELECT reason FROM subscriptions.transitions WHERE subscription_id = @subscription_id ORDER BY id DESC LIMIT 1;

-- name: InsertTransition :exec
INSERT INTO subscriptions.transitions (subscription_id, customer_id, at, from_status, to_status, reason, source, actor_id, event_id)
VALUES (@subscription_id, @customer_id, @at, @from_status, @to_status, @reason, @source, @actor_id, @event_id);

-- name: ListTransitions :many
SELECT * FROM subscriptions.transitions WHERE subscription_id = @subscription_id ORDER BY id;
