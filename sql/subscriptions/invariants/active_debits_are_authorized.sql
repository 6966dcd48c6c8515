-- An active automatic PIX has an authorization at its gateway that is debited, or an end.
SELECT id AS id, 'active since ' || coalesce(started_at::text, 'nobody knows when') || ', without ' || CASE
    WHEN gwa_pix_auth_id IS NULL OR gateway_deleted_at IS NOT NULL THEN 'an authorization' ELSE 'a debit to come' END || ' and without an end' AS detail
FROM subscriptions.subscriptions
WHERE status = 'active' AND pix_automatic AND expires_at IS NULL AND NOT intent_open
  AND (gwa_pix_auth_id IS NULL OR gateway_deleted_at IS NOT NULL OR next_billing_date IS NULL AND pix_expires_at < $1::timestamptz - interval '1 day')
