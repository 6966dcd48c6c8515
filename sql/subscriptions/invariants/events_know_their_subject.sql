-- No event that names a row of ours waits as one of an unknown subject.
SELECT e.gateway || ' ' || e.event_id AS id, 'names ' || s.subject || ', which is ' || CASE WHEN sub.id IS NOT NULL THEN 'a subscription'
    WHEN o.id IS NOT NULL THEN 'an order' ELSE 'a deleted order' END AS detail
FROM payments.processed_events e
CROSS JOIN LATERAL unnest(e.subjects) AS s (subject)
LEFT JOIN subscriptions.subscriptions sub ON sub.id = s.subject
LEFT JOIN tickets.orders o ON o.id = s.subject
LEFT JOIN tickets.deleted_orders d ON d.id = s.subject
WHERE e.state = 'waiting' AND e.result ->> 'reason' = 'unknown subject' AND e.updated_at < $1::timestamptz - interval '15 minutes'
  AND length(s.subject) = 24 AND coalesce(sub.id, o.id, d.id) IS NOT NULL
