-- A live subscription is the current one of its customer, as long as the account exists; a renewal once what it renews has ended.
SELECT s.id AS id, s.status || ', but customer ' || u.id || ' points to ' || coalesce(u.current_subscription_id, 'none') AS detail
FROM subscriptions.subscriptions s JOIN accounts.users u ON u.id = s.customer_id
WHERE s.status IN ('active', 'pending', 'suspended') AND u.current_subscription_id IS DISTINCT FROM s.id
  AND NOT (s.status = 'pending' AND EXISTS (
    SELECT 1 FROM subscriptions.subscriptions o WHERE o.id = s.renews_id AND o.status IN ('active', 'pending', 'suspended')))
  AND NOT EXISTS (SELECT 1 FROM accounts.deletions d WHERE d.customer_id = u.id)
