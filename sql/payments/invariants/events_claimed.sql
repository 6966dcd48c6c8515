-- Each authenticated event that was logged as processed has been claimed once, and all its logs tell its one result.
SELECT l.id AS id, l.gateway || ' ' || l.event_id || CASE WHEN e.event_id IS NULL THEN ' is not known as processed'
    ELSE ' is ' || e.state || ', with another result' END AS detail
FROM payments.webhook_logs l
LEFT JOIN payments.processed_events e ON e.gateway = l.gateway AND e.event_id = l.event_id
WHERE l.signature_valid AND l.processed AND l.event_id IS NOT NULL AND l.event_type NOT LIKE 'ADMIN.%'
  AND coalesce(l.result ->> 'reason', '') NOT LIKE 'not an event that can be %' -- these are logged alone
  AND (e.event_id IS NULL OR e.result <> l.result OR e.state = 'queued')
