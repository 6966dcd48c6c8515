-- name: PlanMoveEnd :execrows
WITH moved AS (
    UPDATE subscriptions.plan_moves m SET state = @state, ended_at = @now
    WHERE m.id = @id AND m.state = @from_state
    RETURNING m.id, m.state
)
INSERT INTO subscriptions.order_transitions (subscription_id, kind, item, at, from_state, to_state, action, reason)
SELECT was.subscription_id, 'plan_move', was.id, @now, was.state, moved.state, @action, @reason FROM moved JOIN subscriptions.plan_moves was ON was.id = moved.id;

-- name: PlanMoveGetOpen :one
SELECT * FROM subscriptions.plan_moves WHERE subscription_id = @subscription_id AND state = 'open';

-- name: PlanMoveGet :one
SELECT * FROM subscriptions.plan_moves WHERE id = @id;

-- name: PlanMoveInsert :exec
WITH begun AS (
    INSERT INTO subscriptions.order_transitions (subscription_id, kind, item, at, to_state, action, reason)
    VALUES (@subscription_id, 'plan_move', @id, @now, @state, @action, @reason)
)
INSERT INTO subscriptions.plan_moves (id, subscription_id, plan_id, state, from_cents, created_by_id, register_date)
VALUES (@id, @subscription_id, @plan_id, @state, @from_cents, @created_by_id, @now);

-- name: PlanMoveIsPrice :one
-- Whether a recurrence may charge the amount because of a move: the price that an open
-- one asks for, or the one that it has left since.
SELECT EXISTS (
    SELECT 1 FROM subscriptions.plan_moves m JOIN subscriptions.plans p ON p.plan_id = m.plan_id
    WHERE m.subscription_id = @subscription_id AND (
        m.state = 'open' AND p.amount_cents = @amount_cents OR m.state = 'done' AND m.from_cents = @amount_cents AND m.ended_at > @since));

-- name: PlanMoveListOpenOf :many
SELECT id FROM subscriptions.plan_moves WHERE state = 'open' AND subscription_id = ANY(@subscription_ids::text[])
ORDER BY id;

-- name: PlanMoveListOpen :many
SELECT id FROM subscriptions.plan_moves WHERE state = 'open' AND register_date <= @before ORDER BY id LIMIT 500;
