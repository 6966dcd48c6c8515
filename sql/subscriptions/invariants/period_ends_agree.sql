-- Whether a subscription ends with its period was held against gateway B, where it was in doubt or the period is about to end.
SELECT s.id AS id, 'whether it ends with its period is to be read at the gateway since ' || s.period_end_look_at AS detail
FROM subscriptions.subscriptions s
WHERE s.status IN ('pending', 'active', 'suspended') AND s.gwb_subscription_id IS NOT NULL AND s.period_end_look_at < $1::timestamptz - interval '1 hour'
