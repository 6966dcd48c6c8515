-- name: WebhookLogListMatching :many
-- WebhookLogListMatching lists logs whose body matches, by id. It reads every log:
-- deletions are rare and done by a job, and an index would cost at each event.
SELECT l.id, l.payload FROM payments.webhook_logs l
WHERE l.id > @after::text AND l.payload::text ~ @pattern::text
ORDER BY l.id LIMIT @page_size;

-- name: WebhookLogReplacePayload :exec
UPDATE payments.webhook_logs SET payload = @payload WHERE id = @id;

-- name: WebhookLogGet :one
-- WebhookLogGet finds a call, also a refused one.
SELECT l.id, l.gateway, l.event_id, l.event_type, l.payload, l.signature_valid FROM payments.webhook_logs l WHERE l.id = @id
UNION ALL
SELECT r.id, r.gateway, r.event_id, r.event_type, r.payload, r.signature_valid FROM payments.refused_webhooks r WHERE r.id = @id;

-- name: WebhookLogStatsGet :one
-- WebhookLogStatsGet counts the stored calls received in [from, to); null is no bound.
-- Every one is in one of processed, pending, failed and invalid_signature. by_hour has those since hours_from.
WITH calls AS (
    SELECT w.gateway, w.event_id, w.event_type, w.received_at, w.processed_at, w.signature_valid, w.processed FROM payments.webhook_logs w
    UNION ALL
    SELECT r.gateway, r.event_id, r.event_type, r.received_at, r.processed_at, r.signature_valid, r.processed FROM payments.refused_webhooks r
), logs AS (
    SELECT l.gateway, l.event_type, l.received_at, l.processed_at, l.signature_valid, l.processed,
        CASE
            WHEN NOT l.signature_valid THEN 'invalid_signature'
            WHEN NOT l.processed THEN 'failed'
            WHEN e.state IS NOT NULL THEN 'pending'
            ELSE 'processed'
        END AS outcome
    FROM calls l
    LEFT JOIN payments.processed_events e ON e.gateway = l.gateway AND e.event_id = l.event_id AND e.state = 'waiting' AND l.signature_valid
    WHERE (sqlc.narg(from_at)::timestamptz IS NULL OR l.received_at >= sqlc.narg(from_at))
      AND (sqlc.narg(to_at)::timestamptz IS NULL OR l.received_at < sqlc.narg(to_at))
)
SELECT
    count(*) AS total,
    count(*) FILTER (WHERE outcome = 'processed') AS processed,
    count(*) FILTER (WHERE outcome = 'pending') AS pending,
    count(*) FILTER (WHERE outcome = 'failed') AS failed,
    count(*) FILTER (WHERE outcome = 'invalid_signature') AS invalid_signature,
    count(*) FILTER (WHERE gateway = 'gwa') AS from_gwa,
    count(*) FILTER (WHERE gateway = 'gwb') AS from_gwb,
    coalesce((
        SELECT jsonb_object_agg(event_type, n) FROM (
            SELECT event_type, count(*) AS n FROM logs WHERE event_type IS NOT NULL AND signature_valid GROUP BY event_type ORDER BY n DESC LIMIT 200
        ) kinds
    ), '{}')::jsonb AS by_event_type,
    coalesce((
        SELECT jsonb_agg(jsonb_build_object('at', at, 'calls', n) ORDER BY at) FROM (
            SELECT date_trunc('hour', received_at, 'UTC') AS at, count(*) AS n FROM logs WHERE received_at >= @hours_from::timestamptz GROUP BY 1
        ) hours
    ), '[]')::jsonb AS by_hour,
    coalesce(max(received_at), 'epoch')::timestamptz AS last_received_at,
    coalesce(percentile_cont(0.95) WITHIN GROUP (ORDER BY extract(epoch FROM processed_at - received_at) * 1000)
        FILTER (WHERE outcome = 'processed'), 0)::float8 AS p95_processing_ms
FROM logs;
