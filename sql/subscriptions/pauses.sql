-- name: PauseConfirm :execrows
-- The gateway has done what it was asked for. No row when the pause was turned the other way meanwhile.
UPDATE subscriptions.pauses SET state = @state,
    paused_at = CASE WHEN @state = 'paused' THEN @now::timestamptz ELSE paused_at END, ended_at = CASE WHEN @state <> 'paused' THEN @now::timestamptz END
WHERE id = @id AND state = @from_state;

-- name: PauseGet :one
SELECT * FROM subscriptions.pauses WHERE id = @id;

-- name: PauseExistsSince :one
-- Whether collection is paused, or was at the instant or later.
SELECT EXISTS (SELECT 1 FROM subscriptions.pauses
    WHERE subscription_id = @subscription_id AND (ended_at IS NULL OR ended_at >= @at::timestamptz));

-- name: PauseInsert :exec
INSERT INTO subscriptions.pauses (id, subscription_id, since, register_date) VALUES (@id, @subscription_id, @since, @now::timestamptz);

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

-- name: PauseTurn :exec
-- Asks for the other direction.
UPDATE subscriptions.pauses SET state = @state, since = least(since, @since), until = sqlc.narg(until)
WHERE id = @id;

-- name: PauseVoid :exec
UPDATE subscriptions.pauses p SET state = m.to_state, ended_at = @now
FROM (SELECT unnest(@from_states::text[]) AS from_state, unnest(@to_states::text[]) AS to_state) m
WHERE p.subscription_id = @subscription_id AND p.state = m.from_state;
