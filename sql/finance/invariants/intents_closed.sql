-- No call to a gateway is without a known outcome for two days, or half an hour after the job that asks was due.
SELECT id AS id, 'subscription, made ' || register_date || ', to be asked about at ' || recovery_at AS detail
FROM subscriptions.subscriptions
WHERE intent_open AND (register_date < $1::timestamptz - interval '2 days' OR recovery_at < $1::timestamptz - interval '30 minutes')
UNION ALL
SELECT id, 'order, made ' || created_at || ', to be asked about at ' || recovery_at
FROM tickets.orders
WHERE intent_open AND (created_at < $1::timestamptz - interval '2 days' OR recovery_at < $1::timestamptz - interval '30 minutes')
