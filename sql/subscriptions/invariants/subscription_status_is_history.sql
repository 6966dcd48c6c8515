-- The last move in a subscription's history leads to its status.
SELECT s.id AS id, 'is ' || s.status || ', history says ' || coalesce(t.to_status, 'nothing') AS detail
FROM subscriptions.subscriptions s
LEFT JOIN LATERAL (SELECT to_status FROM subscriptions.transitions h WHERE h.subscription_id = s.id ORDER BY h.id DESC LIMIT 1) t ON true
WHERE t.to_status IS DISTINCT FROM s.status
