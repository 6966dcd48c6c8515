-- name: ProcessedEventFinishConfirmation :exec
-- ProcessedEventFinishConfirmation gives an event of which a job has asked the gateway, and every
-- authenticated log of it, what came of that. One that has another result keeps it.
WITH asked AS (
    SELECT e.gateway, e.event_id FROM payments.processed_events e
    WHERE e.gateway = @gateway AND e.event_id = @event_id AND e.state = 'done' AND e.result->>'status' = 'queued'
    FOR UPDATE
), logs AS (
    UPDATE payments.webhook_logs l SET processed = true, result = @result, processed_at = sqlc.arg(at)::timestamptz
    FROM asked a WHERE l.gateway = a.gateway AND l.event_id = a.event_id AND l.signature_valid
)
UPDATE payments.processed_events e SET result = @result, updated_at = sqlc.arg(at)::timestamptz
FROM asked a WHERE e.gateway = a.gateway AND e.event_id = a.event_id;

-- name: ProcessedEventClaim :execrows
-- ProcessedEventClaim makes the caller the one who applies the event. While
-- another transaction is at it, the statement waits; no row means that it has
-- been done.
INSERT INTO payments.processed_events (gateway, event_id, log_id, state, subjects, result, event_at, updated_at)
VALUES (@gateway, @event_id, @log_id, 'applying', @subjects, '{}', @event_at, @at)
ON CONFLICT DO NOTHING;

-- name: ProcessedEventFinish :exec
-- ProcessedEventFinish gives an event and every authenticated log of it the
-- result, in one statement. The log that was applied is the one to apply again.
WITH logs AS (
    UPDATE payments.webhook_logs l SET processed = @processed, result = @result, processed_at = sqlc.narg(processed_at)
    WHERE l.gateway = @gateway AND l.event_id = @event_id AND l.signature_valid
)
UPDATE payments.processed_events e SET state = @state, result = @result, log_id = @log_id, updated_at = @at
WHERE e.gateway = @gateway AND e.event_id = @event_id;

-- name: ProcessedEventHold :one
-- ProcessedEventHold holds an event, whatever its state, until the transaction
-- ends.
SELECT state, log_id FROM payments.processed_events
WHERE gateway = @gateway AND event_id = @event_id
FOR UPDATE;

-- name: ProcessedEventListKnown :many
-- ProcessedEventListKnown tells which of the events have come.
SELECT event_id FROM payments.processed_events WHERE gateway = @gateway AND event_id = ANY(@event_ids::text[]);

-- name: ProcessedEventLock :one
-- ProcessedEventLock holds an event that is not done until the transaction ends,
-- with the body it came in.
SELECT e.state, e.log_id, e.updated_at, l.payload
FROM payments.processed_events e JOIN payments.webhook_logs l ON l.id = e.log_id
WHERE e.gateway = @gateway AND e.event_id = @event_id AND e.state IN ('queued', 'waiting')
FOR UPDATE OF e;

-- name: ProcessedEventGetBody :one
-- ProcessedEventGetBody reads the body of an event, whatever its state, and the log that
-- has it.
SELECT e.log_id, l.payload FROM payments.processed_events e JOIN payments.webhook_logs l ON l.id = e.log_id
WHERE e.gateway = @gateway AND e.event_id = @event_id;

-- name: ProcessedEventGetPayload :one
-- ProcessedEventGetPayload reads the body of an event that waits.
SELECT l.payload FROM payments.processed_events e JOIN payments.webhook_logs l ON l.id = e.log_id
WHERE e.gateway = @gateway AND e.event_id = @event_id AND e.state = 'waiting';

-- name: ProcessedEventReceive :execrows
-- ProcessedEventReceive makes the caller the one who applies an event that has
-- been delivered; no row means that the event has been done. Whoever applies
-- waits and works no longer than the limits, so that the event is queued rather
-- than the patience of the gateway lost (10 s at gateway A).
INSERT INTO payments.processed_events (gateway, event_id, log_id, state, subjects, result, event_at, updated_at)
VALUES (@gateway, @event_id, @log_id, 'applying', @subjects::text[], '{}', @event_at, @at)
ON CONFLICT DO NOTHING
RETURNING set_config('lock_timeout', '2s', true), set_config('statement_timeout', '4s', true);

-- name: ProcessedEventRecord :exec
-- ProcessedEventRecord gives the event its result and logs its delivery with
-- it. The log is written once, as it stays: an update would have to look for it in
-- every month.
WITH log AS (
    INSERT INTO payments.webhook_logs (
        id, gateway, event_id, event_type, payload, signature, signature_valid, processed, result, received_at, processed_at,
        request_id
    ) VALUES (
        @log_id, @gateway, @event_id, sqlc.narg(event_type), @payload, sqlc.narg(signature), true, @processed, @result, @received_at, sqlc.narg(processed_at),
        sqlc.narg(request_id)
    )
)
UPDATE payments.processed_events e SET state = @state, result = @result, updated_at = @at
WHERE e.gateway = @gateway AND e.event_id = @event_id;

-- name: ProcessedEventRepeat :one
-- ProcessedEventRepeat logs a delivery of an event that has come before, with the
-- result that the event has. The share lock keeps a job that applies the event
-- again from finishing the logs before this one is among them. A delivery that is
-- logged already is its own repetition: its first commit stands, and the answer to
-- it was lost.
WITH known AS (
    SELECT e.state, e.result FROM payments.processed_events e
    WHERE e.gateway = @gateway AND e.event_id = @event_id
    FOR SHARE
), log AS (
    INSERT INTO payments.webhook_logs (
        id, gateway, event_id, event_type, payload, signature, signature_valid, processed, result, received_at, processed_at,
        request_id
    )
    SELECT @log_id, @gateway, @event_id, sqlc.narg(event_type), @payload, sqlc.narg(signature), true, k.state <> 'queued', k.result,
        @received_at, CASE WHEN k.state <> 'queued' THEN sqlc.arg(processed_at)::timestamptz END, sqlc.narg(request_id)
    FROM known k
    ON CONFLICT DO NOTHING
)
SELECT coalesce(result, '{}')::jsonb AS result FROM known;

-- name: ProcessedEventAddSubject :execrows
-- ProcessedEventAddSubject adds an id by which a waiting event may be found.
UPDATE payments.processed_events SET subjects = subjects || sqlc.arg(subject)::text
WHERE gateway = @gateway AND event_id = @event_id AND state = 'waiting' AND NOT subjects @> ARRAY[sqlc.arg(subject)::text];

-- name: ProcessedEventListWaiting :many
-- ProcessedEventListWaiting lists the events that wait for one of the subjects, in
-- the order in which they happened.
SELECT event_id FROM payments.processed_events
WHERE state = 'waiting' AND gateway = @gateway AND subjects && @subjects::text[]
ORDER BY event_at, log_id;

-- name: ProcessedEventCountOpen :many
-- ProcessedEventCountOpen counts the events of each gateway that are not done, of each state at most so many, and tells
-- since when the oldest of those that are queued is; the given instant where none is.
SELECT g.gateway::text AS gateway, s.state::text AS state,
    (SELECT count(*) FROM (SELECT FROM payments.processed_events e
        WHERE e.gateway = g.gateway AND e.state = s.state AND e.state IN ('queued', 'waiting') LIMIT @most) counted) AS events,
    coalesce((SELECT e.updated_at FROM payments.processed_events e
        WHERE e.gateway = g.gateway AND e.state = 'queued' AND s.state = 'queued' ORDER BY e.updated_at LIMIT 1),
        sqlc.arg(now))::timestamptz AS oldest
FROM unnest(@gateways::text[]) g(gateway), (VALUES ('queued'), ('waiting')) s(state);

-- name: ProcessedEventSetLimits :exec
-- ProcessedEventSetLimits has a transaction of many events wait and work no longer than leaves time to try them again.
SELECT set_config('lock_timeout', '100ms', true), set_config('statement_timeout', '1s', true);

-- name: ProcessedEventListDone :many
-- ProcessedEventListDone tells which of the events have come, with their results. The share lock is that of
-- ProcessedEventRepeat; one that somebody is at is left out.
SELECT e.event_id, e.state, e.result FROM payments.processed_events e
WHERE e.gateway = @gateway AND e.event_id = ANY(@event_ids::text[])
FOR SHARE SKIP LOCKED;

-- name: ProcessedEventReceiveMany :exec
-- ProcessedEventReceiveMany writes events that were applied, whose log_ids are those of their first deliveries, and
-- the logs of all deliveries. An event that has come meanwhile is an error.
WITH lists AS MATERIALIZED (
    SELECT @event_ids::text[] AS event_ids, @event_log_ids::text[] AS event_log_ids, @subjects::text[] AS subjects,
        @event_results::text[] AS event_results, @event_ats::timestamptz[] AS event_ats,
        @log_ids::text[] AS log_ids, @log_event_ids::text[] AS log_event_ids, @event_types::text[] AS event_types,
        @payloads::text[] AS payloads, @signatures::text[] AS signatures, @finals::boolean[] AS finals, @results::text[] AS results,
        @received_ats::timestamptz[] AS received_ats, @request_ids::text[] AS request_ids
), first AS (
    INSERT INTO payments.processed_events (gateway, event_id, log_id, state, subjects, result, event_at, updated_at)
    SELECT @gateway, e.event_id, e.log_id, 'done', ARRAY(SELECT jsonb_array_elements_text(e.subjects::jsonb)), e.result::jsonb, e.event_at,
        sqlc.arg(at)::timestamptz
    FROM (SELECT unnest(l.event_ids) AS event_id, unnest(l.event_log_ids) AS log_id, unnest(l.subjects) AS subjects,
        unnest(l.event_results) AS result, unnest(l.event_ats) AS event_at FROM lists l) e
)
INSERT INTO payments.webhook_logs (
    id, gateway, event_id, event_type, payload, signature, signature_valid, processed, result, received_at, processed_at, request_id
)
SELECT d.log_id, @gateway, d.event_id, d.event_type, d.payload::jsonb, nullif(d.signature, ''), true, d.is_final, d.result::jsonb,
    d.received_at, CASE WHEN d.is_final THEN sqlc.arg(at)::timestamptz END, nullif(d.request_id, '')
FROM (SELECT unnest(l.log_ids) AS log_id, unnest(l.log_event_ids) AS event_id, unnest(l.event_types) AS event_type,
    unnest(l.payloads) AS payload, unnest(l.signatures) AS signature, unnest(l.finals) AS is_final, unnest(l.results) AS result,
    unnest(l.received_ats) AS received_at, unnest(l.request_ids) AS request_id FROM lists l) d
ON CONFLICT DO NOTHING; -- logged by a commit that was not answered
