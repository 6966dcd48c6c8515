-- name: WebhookLogFinishOne :exec
UPDATE payments.webhook_logs SET processed = @processed, result = @result, processed_at = sqlc.narg(processed_at)
WHERE id = @id;

-- name: WebhookLogInsert :exec
INSERT INTO payments.webhook_logs (
    id, gateway, event_id, event_type, payload, signature, signature_valid, processed, result, received_at, processed_at
) VALUES (
    @id, @gateway, sqlc.narg(event_id), sqlc.narg(event_type), @payload, sqlc.narg(signature), @signature_valid,
    @processed, sqlc.narg(result), @received_at, sqlc.narg(processed_at)
);

-- name: WebhookLogCountEvent :one
SELECT count(*) FROM payments.webhook_logs WHERE gateway = @gateway AND event_id = @event_id;
