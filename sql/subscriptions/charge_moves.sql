-- name: ChargeMoveBegin :one
-- Counts a try before the gateway is asked, and keeps the sweep away meanwhile. No row means that it is over.
UPDATE subscriptions.charge_moves SET tries = tries + 1, next_try_at = @until::timestamptz WHERE id = @id AND state = 'open' RETURNING *;

-- name: ChargeMoveEnd :execrows
-- No row where it was moved further on meanwhile.
UPDATE subscriptions.charge_moves SET state = @state, next_try_at = NULL, ended_at = @now, refusal = sqlc.narg(refusal)
WHERE id = @id AND state = @from_state AND to_at = @to_at::timestamptz;

-- name: ChargeMoveGet :one
SELECT * FROM subscriptions.charge_moves WHERE id = @id;

-- name: ChargeMoveGetLast :one
SELECT * FROM subscriptions.charge_moves
WHERE subscription_id = @subscription_id AND state IN ('open', 'done') ORDER BY to_at DESC LIMIT 1;

-- name: ChargeMoveInsert :exec
INSERT INTO subscriptions.charge_moves (id, subscription_id, from_at, to_at, next_try_at, created_by_id, register_date)
VALUES (@id, @subscription_id, @from_at, @to_at, @now::timestamptz, @created_by_id, @now::timestamptz);

-- name: ChargeMoveCovers :one
-- Whether an extension took the charge of an instant away.
SELECT EXISTS (SELECT 1 FROM subscriptions.charge_moves
    WHERE subscription_id = @subscription_id AND from_at <= @at AND to_at > @at AND state IN ('open', 'done'));

-- name: ChargeMoveListDue :many
SELECT id FROM subscriptions.charge_moves WHERE state = 'open' AND next_try_at <= @now::timestamptz
ORDER BY next_try_at LIMIT 500;

-- name: ChargeMoveRefuse :one
-- Since when the gateway finds the order wrong. No row where it is over.
UPDATE subscriptions.charge_moves SET refused_since = coalesce(refused_since, @now::timestamptz)
WHERE id = @id AND state = 'open' RETURNING refused_since::timestamptz;

-- name: ChargeMovePostpone :exec
UPDATE subscriptions.charge_moves SET next_try_at = @next_try_at::timestamptz WHERE id = @id AND state = 'open';

-- name: ChargeMoveGoesBeyond :one
-- Whether a recurrence charges from an instant on, to which an extension moved it.
SELECT EXISTS (SELECT 1 FROM subscriptions.charge_moves
    WHERE subscription_id = @subscription_id AND to_at >= @since::timestamptz AND state IN ('open', 'done'));

-- name: ChargeMoveLengthen :execrows
-- Moves the order that is open further on.
UPDATE subscriptions.charge_moves SET to_at = @to_at, next_try_at = @now::timestamptz, refused_since = NULL
WHERE subscription_id = @subscription_id AND state = 'open';
