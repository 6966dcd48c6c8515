-- name: ProcessedEventClaim :execrows
-- ProcessedEventClaim makes the caller the one who applies the event. While
-- another transaction is at it, the statement waits; no row means that it has
-- been done.
INSERT INTO payments.processed_events (gateway, event_id, log_id, state, subjects, result, event_at, updated_at)
VALUES (@gateway, @event_id, @log_id, 'applying', @subjects, '{}', @event_at, @at)
ON CONFLICT DO NOTHING;

-- name: ProcessedEventReceive :execrows
-- ProcessedEventReceive logs a delivery and makes the caller the one who applies
-- its event, in one statement; no row means that the event has been done. Whoever
-- applies waits and works no longer than the limits, so that the event is queued
-- rather than the patience of the gateway lost (10 s at gateway A).
WITH log AS (
    INSERT INTO payments.webhook_logs (id, gateway, event_id, event_type, payload, signature, signature_valid, processed, received_at)
    VALUES (@log_id, @gateway, @event_id, sqlc.narg(event_type), @payload, sqlc.narg(signature), true, false, @at)
    RETURNING id
)
INSERT INTO payments.processed_events (gateway, event_id, log_id, state, subjects, result, event_at, updated_at)
SELECT @gateway, @event_id, log.id, 'applying', @subjects::text[], '{}', @event_at, @at FROM log
ON CONFLICT DO NOTHING
RETURNING set_config('lock_timeout', '2s', true), set_config('statement_timeout', '4s', true);

-- name: ProcessedEventFinish :exec
-- ProcessedEventFinish gives an event and every authenticated log of it the
-- result, in one statement.
WITH logs AS (
    UPDATE payments.webhook_logs l SET processed = @processed, result = @result, processed_at = sqlc.narg(processed_at)
    WHERE l.gateway = @gateway AND l.event_id = @event_id AND l.signature_valid
)
UPDATE payments.processed_events e SET state = @state, result = @result, updated_at = @at
WHERE e.gateway = @gateway AND e.event_id = @event_id;

-- name: ProcessedEventGet :one
-- ProcessedEventGet reads the result. The share lock keeps a job that applies the
-- event again from finishing the logs before the caller's own is among them.
SELECT state, result FROM payments.processed_events
WHERE gateway = @gateway AND event_id = @event_id
FOR SHARE;

-- name: ProcessedEventKnown :many
-- ProcessedEventKnown tells which of the events have come.
SELECT event_id FROM payments.processed_events WHERE gateway = @gateway AND event_id = ANY(@event_ids::text[]);

-- name: ProcessedEventLock :one
-- ProcessedEventLock holds an event that is not done until the transaction ends,
-- with the body it came in.
SELECT e.state, e.log_id, l.payload
FROM payments.processed_events e JOIN payments.webhook_logs l ON l.id = e.log_id
WHERE e.gateway = @gateway AND e.event_id = @event_id AND e.state IN ('queued', 'waiting')
FOR UPDATE OF e;

-- name: ProcessedEventPayload :one
-- ProcessedEventPayload reads the body of an event that waits.
SELECT l.payload FROM payments.processed_events e JOIN payments.webhook_logs l ON l.id = e.log_id
WHERE e.gateway = @gateway AND e.event_id = @event_id AND e.state = 'waiting';

-- name: ProcessedEventSubject :exec
-- ProcessedEventSubject adds an id by which a waiting event may be found.
UPDATE payments.processed_events SET subjects = subjects || sqlc.arg(subject)::text
WHERE gateway = @gateway AND event_id = @event_id AND state = 'waiting' AND NOT subjects @> ARRAY[sqlc.arg(subject)::text];

-- name: ProcessedEventWaiting :many
-- ProcessedEventWaiting lists the events that wait for one of the subjects, in
-- the order in which they happened.
SELECT event_id FROM payments.processed_events
WHERE state = 'waiting' AND gateway = @gateway AND subjects && @subjects::text[]
ORDER BY event_at, log_id;

-- name: ProcessedEventWaits :one
-- ProcessedEventWaits tells whether any event waits for one of the subjects.
SELECT EXISTS (
    SELECT 1 FROM payments.processed_events
    WHERE state = 'waiting' AND gateway = @gateway AND subjects && @subjects::text[]
);

-- name: ProcessedEventHold :one
-- ProcessedEventHold holds an event, whatever its state, until the transaction
-- ends.
SELECT state, log_id FROM payments.processed_events
WHERE gateway = @gateway AND event_id = @event_id
FOR UPDATE;
