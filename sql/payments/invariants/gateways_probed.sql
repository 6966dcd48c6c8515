-- No gateway is marked as failing for half an hour in which nobody has asked it.
SELECT gateway AS id, 'fails since ' || failing_since || ', last asked at ' || coalesce(failed_at::text, 'no time') || ', '
    || (SELECT count(*) FROM payments.intents i WHERE i.gateway = s.gateway AND i.state = 'open') || ' orders open' AS detail
FROM payments.gateway_state s
WHERE failing_since < $1::timestamptz - interval '30 minutes' AND coalesce(failed_at < $1::timestamptz - interval '30 minutes', true)
