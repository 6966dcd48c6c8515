-- No call of gateway B was refused within a day because its clock and ours lie more than 5 minutes apart (clock_skew).
SELECT gateway AS id, 'clock_skew: ' || sum(calls) || ' calls with a right signature were refused, the last at ' || max(last_at) AS detail
FROM (
    SELECT c.gateway, c.calls, c.last_at FROM payments.refused_webhook_counts c WHERE c.reason = 'clock_skew'
    UNION ALL SELECT w.gateway, 1, w.received_at FROM payments.refused_webhooks w WHERE w.reason = 'clock_skew'
) r
WHERE r.last_at >= $1::timestamptz - interval '24 hours'
GROUP BY gateway
