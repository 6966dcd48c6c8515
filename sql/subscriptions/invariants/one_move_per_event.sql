-- An event of a gateway moves a subscription once, but for its repetitions by admins, whose moves name them.
SELECT subscription_id AS id, count(*) || ' moves by event ' || event_id AS detail
FROM subscriptions.transitions WHERE event_id IS NOT NULL AND actor_id IS NULL
GROUP BY subscription_id, event_id HAVING count(*) > 1
