-- A subscription that gave access and was replaced by its renewal has a successor that has begun.
SELECT t.subscription_id AS id, 'replaced at ' || t.at || ' and followed by none' AS detail
FROM subscriptions.transitions t
WHERE t.reason = 'replaced' AND t.from_status = 'active'
  AND NOT EXISTS (SELECT 1 FROM subscriptions.subscriptions n WHERE n.renews_id = t.subscription_id AND n.started_at IS NOT NULL)
  -- Until renewals waited for the gateway, the next move of the customer began the new one.
  AND NOT EXISTS (
    SELECT 1 FROM (SELECT b.reason, b.from_status FROM subscriptions.transitions b WHERE b.customer_id = t.customer_id AND b.id > t.id ORDER BY b.id LIMIT 1) next
    WHERE next.reason = 'renewed' AND next.from_status IS NULL)
UNION ALL
-- and a renewal that has begun has replaced what it renews.
SELECT n.id, 'has begun beside ' || o.id || ', which is ' || o.status
FROM subscriptions.subscriptions n JOIN subscriptions.subscriptions o ON o.id = n.renews_id
WHERE n.started_at IS NOT NULL AND n.status IN ('active', 'suspended') AND o.status IN ('active', 'pending', 'suspended')
