-- name: PlanMoveBegin :execrows
-- Has the sweep come later: the move's intent asks the gateway.
UPDATE subscriptions.plan_moves SET next_try_at = @next_try_at WHERE id = @id AND state = 'open';

-- name: PlanMoveEnd :execrows
UPDATE subscriptions.plan_moves SET state = @state, next_try_at = NULL, ended_at = @now
WHERE id = @id AND state = @from_state;

-- name: PlanMoveGetOpen :one
SELECT * FROM subscriptions.plan_moves WHERE subscription_id = @subscription_id AND state = 'open';

-- name: PlanMoveGet :one
SELECT * FROM subscriptions.plan_moves WHERE id = @id;

-- name: PlanMoveInsert :exec
INSERT INTO subscriptions.plan_moves (id, subscription_id, plan_id, from_cents, next_try_at, created_by_id, register_date)
VALUES (@id, @subscription_id, @plan_id, @from_cents, @next_try_at, @created_by_id, @now);

-- name: PlanMoveIsPrice :one
-- Whether a recurrence may charge the amount because of a move: the price that an open
-- one asks for, or the one that it has left since.
SELECT EXISTS (
    SELECT 1 FROM subscriptions.plan_moves m JOIN subscriptions.plans p ON p.plan_id = m.plan_id
    WHERE m.subscription_id = @subscription_id AND (
        m.state = 'open' AND p.amount_cents = @amount_cents OR m.state = 'done' AND m.from_cents = @amount_cents AND m.ended_at > @since));

-- name: PlanMoveListDue :many
SELECT id FROM subscriptions.plan_moves WHERE state = 'open' AND next_try_at <= @now
ORDER BY next_try_at LIMIT 500;

-- name: PlanMoveListOpenOf :many
SELECT id FROM subscriptions.plan_moves WHERE state = 'open' AND subscription_id = ANY(@subscription_ids::text[])
ORDER BY id;
