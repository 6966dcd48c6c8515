-- A promo code that a subscription holds or has used is of a subscription of that customer, and held only while it lives.
SELECT r.id AS id, 'code ' || r.code || ' of customer ' || r.customer_id || ': subscription ' || r.subscription_id || CASE
    WHEN s.id IS NULL THEN ' is not there'
    WHEN s.customer_id <> r.customer_id THEN ' is of customer ' || s.customer_id
    ELSE ' is ' || s.status END AS detail
FROM promos.redemptions r LEFT JOIN subscriptions.subscriptions s ON s.id = r.subscription_id
WHERE r.subscription_id IS NOT NULL
  AND (s.id IS NULL OR s.customer_id <> r.customer_id OR r.redeemed_at IS NULL AND s.status IN ('cancelled', 'expired'))
