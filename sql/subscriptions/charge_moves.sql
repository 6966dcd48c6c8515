-- name: ChargeMoveEnd :execrows
-- No row where it was moved further on meanwhile.
UPDATE subscriptions.charge_moves SET state = @state, ended_at = @now, refusal = sqlc.narg(refusal)
WHERE id = @id AND state = @from_state AND to_at = @to_at::timestamptz;

-- name: ChargeMoveGet :one
SELECT * FROM subscriptions.charge_moves WHERE id = @id;

-- name: ChargeMoveGetLast :one
SELECT * FROM subscriptions.charge_moves
WHERE subscription_id = @subscription_id AND state IN ('open', 'done') ORDER BY to_at DESC LIMIT 1;

-- name: ChargeMoveInsert :exec
INSERT INTO subscriptions.charge_moves (id, subscription_id, from_at, to_at, created_by_id, register_date)
VALUES (@id, @subscription_id, @from_at, @to_at, @created_by_id, @now::timestamptz);

-- name: ChargeMoveCovers :one
-- Whether an extension took the charge of an instant away.
SELECT EXISTS (SELECT 1 FROM subscriptions.charge_moves
    WHERE subscription_id = @subscription_id AND from_at <= @at AND to_at > @at AND state IN ('open', 'done'));

-- name: ChargeMoveRefuse :one
-- Since when the gateway finds the order wrong. No row where it is over.
UPDATE subscriptions.charge_moves SET refused_since = coalesce(refused_since, @now::timestamptz)
WHERE id = @id AND state = 'open' RETURNING refused_since::timestamptz;

-- name: ChargeMoveGoesBeyond :one
-- Whether a recurrence charges from an instant on, to which an extension moved it.
SELECT EXISTS (SELECT 1 FROM subscriptions.charge_moves
    WHERE subscription_id = @subscription_id AND to_at >= @since::timestamptz AND state IN ('open', 'done'));

-- name: ChargeMoveLengthen :one
-- Moves the order that is open further on.
UPDATE subscriptions.charge_moves SET to_at = @to_at, refused_since = NULL
WHERE subscription_id = @subscription_id AND state = 'open' RETURNING id;
