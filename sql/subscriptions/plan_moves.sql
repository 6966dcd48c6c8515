-- name: BeginPlanMove :one
-- Counts a try before the gateway is asked: nobody may know later what it did.
UPDATE subscriptions.plan_moves SET tries = tries + 1 WHERE id = @id AND state = 'open' RETURNING *;

-- name: EndPlanMove :execrows
UPDATE subscriptions.plan_moves SET state = @state, next_try_at = NULL, ended_at = @now
WHERE id = @id AND state = 'open';

-- name: GetOpenPlanMove :one
SELECT * FROM subscriptions.plan_moves WHERE subscription_id = @subscription_id AND state = 'open';

-- name: GetPlanMove :one
SELECT * FROM subscriptions.plan_moves WHERE id = @id;

-- name: InsertPlanMove :exec
INSERT INTO subscriptions.plan_moves (id, subscription_id, plan_id, next_try_at, created_by_id, register_date)
VALUES (@id, @subscription_id, @plan_id, @next_try_at, @created_by_id, @now);

-- name: ListDuePlanMoves :many
SELECT id FROM subscriptions.plan_moves WHERE state = 'open' AND next_try_at <= @now
ORDER BY next_try_at LIMIT 500;

-- name: ListOpenPlanMovesOf :many
SELECT id FROM subscriptions.plan_moves WHERE state = 'open' AND subscription_id = ANY(@subscription_ids::text[])
ORDER BY id;

-- name: PostponePlanMove :exec
UPDATE subscriptions.plan_moves SET next_try_at = @next_try_at WHERE id = @id AND state = 'open';

-- name: RefusePlanMove :execrows
-- Ends a move that the gateway has certainly not made: no other try, before or
-- meanwhile, may have.
UPDATE subscriptions.plan_moves SET state = 'refused', next_try_at = NULL, ended_at = @now
WHERE id = @id AND state = 'open' AND tries = 1;
