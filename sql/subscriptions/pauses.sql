-- name: PauseConfirm :execrows
-- The gateway has done what it was asked for. No row when the pause was turned the other way meanwhile.
WITH moved AS (
    UPDATE subscriptions.pauses p SET state = @state, paused_at = coalesce(sqlc.narg(paused_at)::timestamptz, paused_at), ended_at = sqlc.narg(ended_at)
    WHERE p.id = @id AND p.state = @from_state
    RETURNING p.id, p.state
)
INSERT INTO subscriptions.order_transitions (subscription_id, kind, item, at, from_state, to_state, action, reason)
SELECT was.subscription_id, 'pause', was.id, @now, was.state, moved.state, @action, @reason FROM moved JOIN subscriptions.pauses was ON was.id = moved.id;

-- name: PauseGet :one
SELECT * FROM subscriptions.pauses WHERE id = @id;

-- name: PauseExistsSince :one
-- Whether collection is paused, or was at the instant or later.
SELECT EXISTS (SELECT 1 FROM subscriptions.pauses
    WHERE subscription_id = @subscription_id AND (ended_at IS NULL OR ended_at >= @at::timestamptz));

-- name: PauseInsert :exec
WITH begun AS (
    INSERT INTO subscriptions.order_transitions (subscription_id, kind, item, at, to_state, action, reason)
    VALUES (@subscription_id, 'pause', @id, @now, @state, @action, @reason)
)
INSERT INTO subscriptions.pauses (id, subscription_id, state, since, register_date) VALUES (@id, @subscription_id, @state, @since, @now);

-- name: PauseCovers :one
-- Whether an instant lies within a pause. Gateway B's clock has whole seconds: the second of the dispute itself is none of it.
SELECT EXISTS (SELECT 1 FROM subscriptions.pauses
    WHERE subscription_id = @subscription_id AND since <= @at AND coalesce(until, ended_at, 'infinity') > @at::timestamptz);

-- name: PauseListDisputed :many
-- Suspended subscriptions with a chargeback: first those without a pause, of which what they need may have been lost.
SELECT s.* FROM subscriptions.subscriptions s
WHERE s.has_chargeback AND s.status = 'suspended'
  AND NOT EXISTS (SELECT 1 FROM subscriptions.pauses p WHERE p.subscription_id = s.id AND p.state = 'pausing')
ORDER BY EXISTS (SELECT 1 FROM subscriptions.pauses p WHERE p.subscription_id = s.id AND p.state = 'paused'), s.id LIMIT 500;

-- name: PauseListUnsuspended :many
-- Active subscriptions which followed, by renewals, one with a chargeback that does not hold them.
WITH RECURSIVE followed AS (
    SELECT s.id FROM subscriptions.subscriptions s WHERE s.has_chargeback
    UNION
    SELECT s.id FROM followed f JOIN subscriptions.subscriptions s ON s.renews_id = f.id
)
SELECT s.* FROM followed f JOIN subscriptions.subscriptions s ON s.id = f.id
WHERE s.status = 'active' AND NOT s.has_chargeback AND s.renews_id IS NOT NULL
ORDER BY s.id LIMIT 500;

-- name: PauseLockOpen :one
SELECT * FROM subscriptions.pauses WHERE subscription_id = @subscription_id AND state IN ('pausing', 'paused', 'resuming') FOR UPDATE;

-- name: PauseSetDue :exec
UPDATE subscriptions.pauses SET next_due = least(next_due, @next_due::timestamptz) WHERE id = @id;

-- name: PauseTurn :execrows
-- Asks for the other direction.
WITH moved AS (
    UPDATE subscriptions.pauses p SET state = @state, since = least(since, @since::timestamptz), until = sqlc.narg(until)
    WHERE p.id = @id AND p.state = @from_state
    RETURNING p.id, p.state
)
INSERT INTO subscriptions.order_transitions (subscription_id, kind, item, at, from_state, to_state, action, reason)
SELECT was.subscription_id, 'pause', was.id, @now, was.state, moved.state, @action, @reason FROM moved JOIN subscriptions.pauses was ON was.id = moved.id;

-- name: PauseVoid :exec
WITH moved AS (
    UPDATE subscriptions.pauses p SET state = m.to_state, ended_at = @now
    FROM (SELECT unnest(@from_states::text[]) AS from_state, unnest(@to_states::text[]) AS to_state) m
    WHERE p.subscription_id = @subscription_id AND p.state = m.from_state
    RETURNING p.id, p.subscription_id, m.from_state, p.state
)
INSERT INTO subscriptions.order_transitions (subscription_id, kind, item, at, from_state, to_state, action, reason)
SELECT subscription_id, 'pause', id, @now, from_state, state, @action, @reason FROM moved;
