-- current_subscription_id points to a live subscription of that customer.
SELECT u.id AS id, 'points to ' || u.current_subscription_id || CASE
    WHEN s.id IS NULL THEN ', which is not there'
    WHEN s.customer_id <> u.id THEN ', of customer ' || s.customer_id
    ELSE ', which is ' || s.status END AS detail
FROM accounts.users u LEFT JOIN subscriptions.subscriptions s ON s.id = u.current_subscription_id
WHERE u.current_subscription_id IS NOT NULL
  AND (s.id IS NULL OR s.customer_id <> u.id OR s.status NOT IN ('active', 'pending', 'suspended'))
