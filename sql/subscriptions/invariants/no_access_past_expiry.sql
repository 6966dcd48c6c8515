-- No subscription is active or suspended more than 15 minutes after expires_at.
SELECT id AS id, status || ' since ' || expires_at AS detail
FROM subscriptions.subscriptions
WHERE expires_at < $1::timestamptz - interval '15 minutes' AND status IN ('active', 'suspended')
