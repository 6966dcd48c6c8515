-- No event of a gateway is half applied, or has been waiting for its repetition for an hour.
SELECT gateway || ' ' || event_id AS id, state || ' since ' || updated_at AS detail
FROM payments.processed_events
WHERE state = 'applying' OR state = 'queued' AND updated_at < $1::timestamptz - interval '1 hour'
