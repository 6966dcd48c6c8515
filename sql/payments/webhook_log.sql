-- name: WebhookLogAddMonths :one
-- WebhookLogAddMonths makes the partitions of so many months from the instant's on
-- that are missing, and tells how many.
SELECT payments.add_webhook_log_months(@since::timestamptz, @months::int)::int AS added;

-- name: WebhookLogCountEvent :one
SELECT count(*) FROM payments.webhook_logs WHERE gateway = @gateway AND event_id = @event_id;

-- name: WebhookLogCountWaiting :one
-- WebhookLogCountWaiting counts the calls that a job tries to apply again.
SELECT count(*) FROM payments.webhook_logs WHERE NOT processed AND signature_valid;

-- name: WebhookLogDeleteBefore :execrows
-- WebhookLogDeleteBefore deletes some logs received before the instant, never those
-- of events not applied yet.
DELETE FROM payments.webhook_logs l USING (
    SELECT o.id, o.received_at FROM payments.webhook_logs o
    WHERE o.received_at < @before AND NOT (o.signature_valid AND EXISTS (
        SELECT 1 FROM payments.processed_events e
        WHERE e.gateway = o.gateway AND e.event_id = o.event_id AND e.state IN ('queued', 'waiting')))
    LIMIT @page_size
) old
WHERE l.id = old.id AND l.received_at = old.received_at AND l.received_at < @before;

-- name: WebhookLogDropMonth :one
-- WebhookLogDropMonth drops the oldest partition that ends by the instant, but for
-- logs of events not applied yet. It tells the partition's name, "" when there is
-- none.
SELECT coalesce(payments.drop_webhook_log_month(@before::timestamptz), '')::text AS partition;

-- name: WebhookLogInsert :exec
INSERT INTO payments.webhook_logs (
    id, gateway, event_id, event_type, payload, signature, signature_valid, processed, result, received_at, processed_at,
    request_id
) VALUES (
    @id, @gateway, sqlc.narg(event_id), sqlc.narg(event_type), @payload, sqlc.narg(signature), @signature_valid,
    @processed, sqlc.narg(result), @received_at, sqlc.narg(processed_at), sqlc.narg(request_id)
);

-- name: WebhookLogGetPayload :one
SELECT payload FROM payments.webhook_logs WHERE gateway = @gateway AND event_id = @event_id ORDER BY received_at LIMIT 1;

-- name: WebhookLogListLast :many
-- WebhookLogListLast tells when each gateway last called, of so many newest calls since the instant.
SELECT calls.gateway, max(calls.received_at)::timestamptz AS received_at FROM (
    SELECT l.gateway, l.received_at FROM payments.webhook_logs l
    WHERE l.signature_valid AND l.received_at >= @since::timestamptz
    ORDER BY l.received_at DESC LIMIT @newest
) calls GROUP BY calls.gateway;
