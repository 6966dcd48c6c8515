-- name: PlanMoveEnd :execrows
UPDATE subscriptions.plan_moves SET state = @state, ended_at = @now
WHERE id = @id AND state = @from_state;

-- name: PlanMoveGetOpen :one
SELECT * FROM subscriptions.plan_moves WHERE subscription_id = @subscription_id AND state = 'open';

-- name: PlanMoveGet :one
SELECT * FROM subscriptions.plan_moves WHERE id = @id;

-- name: PlanMoveInsert :exec
INSERT INTO subscriptions.plan_moves (id, subscription_id, plan_id, from_cents, created_by_id, register_date)
VALUES (@id, @subscription_id, @plan_id, @from_cents, @created_by_id, @now);

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
