-- name: ProcessedEventClaim :execrows
-- ProcessedEventClaim makes the caller the one who applies the event. While
-- another transaction is at it, the statement waits; no row means that it has
-- been done.
INSERT INTO payments.processed_events (gateway, event_id, log_id, state, subjects, result, event_at, updated_at)
VALUES (@gateway, @event_id, @log_id, 'applying', @subjects, '{}', @event_at, @at)
ON CONFLICT DO NOTHING;

-- name: ProcessedEventFinish :exec
UPDATE payments.processed_events SET state = @state, result = @result, updated_at = @at
WHERE gateway = @gateway AND event_id = @event_id;

-- name: ProcessedEventGet :one
-- ProcessedEventGet reads the result. The share lock keeps a job that applies the
-- event again from finishing the logs before the caller's own is among them.
SELECT state, result FROM payments.processed_events
WHERE gateway = @gateway AND event_id = @event_id
FOR SHARE;

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
