-- A customer has at most one subscription that is active, pending or suspended, and one renewal that waits beside it.
SELECT customer_id AS id, 'live subscriptions: ' || string_agg(id, ', ' ORDER BY id) AS detail
FROM subscriptions.subscriptions s
WHERE status IN ('active', 'pending', 'suspended') AND NOT (status = 'pending' AND EXISTS (
    SELECT 1 FROM subscriptions.subscriptions o
    WHERE o.id = s.renews_id AND o.customer_id = s.customer_id AND o.status IN ('active', 'pending', 'suspended')))
GROUP BY customer_id HAVING count(*) > 1
UNION ALL
SELECT customer_id, 'renewals that wait: ' || string_agg(id, ', ' ORDER BY id)
FROM subscriptions.subscriptions WHERE status = 'pending' AND renews_id IS NOT NULL
GROUP BY customer_id HAVING count(*) > 1
