-- Each event that is not applied yet has the log from which it will be.
SELECT e.gateway || ' ' || e.event_id AS id, e.state || ', and log ' || e.log_id || ' is gone' AS detail
FROM payments.processed_events e
WHERE e.state IN ('queued', 'waiting') AND NOT EXISTS (SELECT 1 FROM payments.webhook_logs l WHERE l.id = e.log_id)
