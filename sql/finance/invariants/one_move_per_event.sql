-- An event of a gateway moves a subscription once.
SELECT subscription_id AS id, count(*) || ' moves by event ' || event_id AS detail
FROM subscriptions.transitions WHERE event_id IS NOT NULL
GROUP BY subscription_id, event_id HAVING count(*) > 1
