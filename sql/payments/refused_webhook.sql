-- name: RefusedWebhookLockWait :exec
-- RefusedWebhookLockWait bounds what the transaction waits for a lock.
SELECT set_config('lock_timeout', '1s', true);

-- name: RefusedWebhookInsert :execrows
-- RefusedWebhookInsert stores a refused call unless there are enough of the day, or of
-- the hour and address: 0 rows then.
INSERT INTO payments.refused_webhooks (
    id, gateway, event_id, event_type, payload, signature, result, received_at, reason, address, network,
    request_id
)
SELECT @id, @gateway, sqlc.narg(event_id), sqlc.narg(event_type), @payload, sqlc.narg(signature), sqlc.narg(result), @received_at, @reason, @address, @network,
    sqlc.narg(request_id)
WHERE (SELECT count(*) FROM payments.refused_webhooks d WHERE d.received_at >= @day) < @max_day::bigint
  AND (SELECT count(*) FROM payments.refused_webhooks h WHERE h.received_at >= @hour AND h.address = @address) < @max_hour::bigint;

-- name: RefusedWebhookCount :exec
INSERT INTO payments.refused_webhook_counts (hour, gateway, network, reason, calls, last_at)
SELECT unnest(@hours::timestamptz[]), unnest(@gateways::text[]), unnest(@networks::text[]), unnest(@reasons::text[]),
    unnest(@calls::bigint[]), unnest(@last_at::timestamptz[])
ON CONFLICT (hour, gateway, network, reason) DO UPDATE SET
    calls = refused_webhook_counts.calls + excluded.calls, last_at = greatest(refused_webhook_counts.last_at, excluded.last_at);

-- name: RefusedWebhookDeleteBefore :execrows
-- RefusedWebhookDeleteBefore deletes the stored calls of before the instant, and counts
-- them instead.
WITH gone AS (
    DELETE FROM payments.refused_webhooks w WHERE w.received_at < @before
    RETURNING w.received_at, w.gateway, w.network, w.reason
)
INSERT INTO payments.refused_webhook_counts (hour, gateway, network, reason, calls, last_at)
SELECT date_trunc('hour', g.received_at AT TIME ZONE 'UTC') AT TIME ZONE 'UTC', g.gateway, g.network, g.reason, count(*), max(g.received_at)
FROM gone g GROUP BY 1, 2, 3, 4
ON CONFLICT (hour, gateway, network, reason) DO UPDATE SET
    calls = refused_webhook_counts.calls + excluded.calls, last_at = greatest(refused_webhook_counts.last_at, excluded.last_at);

-- name: RefusedWebhookLeaveLog :one
-- RefusedWebhookLeaveLog counts some refused calls of before the instant that stand in
-- the log itself, where all stood once, and deletes them there. It tells how many.
WITH old AS (
    SELECT o.id, o.received_at FROM payments.webhook_logs o
    WHERE NOT o.processed AND NOT o.signature_valid AND o.received_at < @before LIMIT @page_size
), gone AS (
    DELETE FROM payments.webhook_logs l USING old
    WHERE l.id = old.id AND l.received_at = old.received_at AND l.received_at < @before
    RETURNING l.received_at, l.gateway
), counted AS (
    INSERT INTO payments.refused_webhook_counts (hour, gateway, network, reason, calls, last_at)
    SELECT date_trunc('hour', g.received_at AT TIME ZONE 'UTC') AT TIME ZONE 'UTC', g.gateway, 'other', 'signature', count(*), max(g.received_at)
    FROM gone g GROUP BY 1, 2
    ON CONFLICT (hour, gateway, network, reason) DO UPDATE SET
        calls = refused_webhook_counts.calls + excluded.calls, last_at = greatest(refused_webhook_counts.last_at, excluded.last_at)
)
SELECT count(*) FROM gone;

-- name: RefusedWebhookDeleteCountsBefore :exec
DELETE FROM payments.refused_webhook_counts WHERE hour < @before;

-- name: RefusedWebhookForget :exec
-- RefusedWebhookForget empties the stored calls whose body matches.
UPDATE payments.refused_webhooks SET payload = '"[erased]"' WHERE payload::text ~ @pattern::text;

-- name: RefusedWebhookStatsGet :one
-- RefusedWebhookStatsGet counts the refused calls that are counted alone; hours that the
-- bounds cut are taken whole.
SELECT
    coalesce(sum(calls) FILTER (WHERE gateway = 'gwa'), 0)::bigint AS from_gwa,
    coalesce(sum(calls) FILTER (WHERE gateway = 'gwb'), 0)::bigint AS from_gwb,
    coalesce(max(last_at), 'epoch')::timestamptz AS last_received_at
FROM payments.refused_webhook_counts
WHERE (sqlc.narg(from_at)::timestamptz IS NULL OR last_at >= sqlc.narg(from_at))
  AND (sqlc.narg(to_at)::timestamptz IS NULL OR hour < sqlc.narg(to_at));
