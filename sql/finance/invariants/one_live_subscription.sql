-- A customer has at most one subscription that is active, pending or suspended.
SELECT customer_id AS id, 'live subscriptions: ' || string_agg(id, ', ' ORDER BY id) AS detail
FROM subscriptions.subscriptions WHERE status IN ('active', 'pending', 'suspended')
GROUP BY customer_id HAVING count(*) > 1
