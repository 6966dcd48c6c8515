-- name: ChargeMoveEnd :execrows
-- No row where it was moved further on meanwhile.
WITH moved AS (
    UPDATE subscriptions.charge_moves m SET state = @state, ended_at = @now, refusal = sqlc.narg(refusal)
    WHERE m.id = @id AND m.state = @from_state AND m.to_at = @to_at::timestamptz
    RETURNING m.id, m.state
)
INSERT INTO subscriptions.order_transitions (subscription_id, kind, item, at, from_state, to_state, action, reason)
SELECT was.subscription_id, 'charge_move', was.id, @now, was.state, moved.state, @action, @reason FROM moved JOIN subscriptions.charge_moves was ON was.id = moved.id;

-- name: ChargeMoveGet :one
SELECT * FROM subscriptions.charge_moves WHERE id = @id;

-- name: ChargeMoveGetLast :one
SELECT * FROM subscriptions.charge_moves
WHERE subscription_id = @subscription_id AND state IN ('open', 'done') ORDER BY to_at DESC LIMIT 1;

-- name: ChargeMoveInsert :exec
WITH begun AS (
    INSERT INTO subscriptions.order_transitions (subscription_id, kind, item, at, to_state, action, reason)
    VALUES (@subscription_id, 'charge_move', @id, @now, @state, @action, @reason)
)
INSERT INTO subscriptions.charge_moves (id, subscription_id, from_at, to_at, state, created_by_id, register_date)
VALUES (@id, @subscription_id, @from_at, @to_at, @state, @created_by_id, @now);

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
