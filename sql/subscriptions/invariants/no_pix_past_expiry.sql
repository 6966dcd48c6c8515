-- No subscription waits for a PIX whose code ran out more than an hour ago.
SELECT id AS id, 'code ran out at ' || pix_expires_at AS detail
FROM subscriptions.subscriptions
WHERE status = 'pending' AND payment_method = 'pix' AND NOT intent_open AND pix_expires_at < $1::timestamptz - interval '1 hour'
