-- No order to a gateway is without a known outcome for two days, or half an hour beyond its next check.
SELECT id AS id, kind || ' of ' || subject_id || ' at ' || gateway || ', made ' || created_at || ', to be asked about at ' || next_look_at || coalesce(': ' || cause, '') AS detail
FROM payments.intents
WHERE state = 'open' AND (not_known_since < $1::timestamptz - interval '2 days' OR greatest(next_look_at, leased_until) < $1::timestamptz - interval '30 minutes')
UNION ALL
SELECT o.id, 'order, made ' || o.created_at || ', and no intent of it is open'
FROM tickets.orders o
WHERE o.intent_open AND o.created_at < $1::timestamptz - interval '30 minutes'
  AND NOT EXISTS (SELECT FROM payments.intents i WHERE i.subject_id = o.id AND i.kind = 'order' AND i.state = 'open')
