-- An active card has a recurrence at its gateway that charges it, or an end.
SELECT id AS id, gateway || ' active since ' || coalesce(started_at::text, 'nobody knows when') || ', without a recurrence and without an end' AS detail
FROM subscriptions.subscriptions
WHERE status = 'active' AND payment_method = 'credit_card' AND expires_at IS NULL AND NOT intent_open
  AND (CASE gateway WHEN 'gwa' THEN gwa_subscription_id ELSE gwb_subscription_id END IS NULL OR gateway_deleted_at IS NOT NULL)
