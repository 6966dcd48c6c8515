-- +goose Up
ALTER TABLE subscriptions.subscriptions ADD COLUMN gateway_end_open_since timestamptz;
COMMENT ON COLUMN subscriptions.subscriptions.gateway_end_open_since IS 'Set when a subscription is opened again, for one period, whose recurrence was to end and whose gateway had not confirmed that: what runs there is still to be ended. Null once gateway_deleted_at says that it is.';
CREATE INDEX subscriptions_gateway_end_open ON subscriptions.subscriptions (gateway_end_open_since) WHERE gateway_end_open_since IS NOT NULL;

-- What late money or an admin has opened until now: it was not noted whether the gateway had confirmed. To be asked once more is harmless.
UPDATE subscriptions.subscriptions s SET gateway_end_open_since = now(), gateway_deleted_at = NULL
WHERE s.status IN ('active', 'suspended') AND s.expires_at IS NOT NULL AND NOT s.intent_open
  AND (s.gwa_subscription_id IS NOT NULL OR s.gwb_subscription_id IS NOT NULL OR s.pix_automatic AND s.gwa_pix_auth_id IS NOT NULL)
  AND NOT EXISTS (SELECT FROM subscriptions.charge_moves m WHERE m.subscription_id = s.id) -- its recurrence goes on after an extension
  AND (SELECT t.reason IN ('late_money', 'admin_activated') FROM subscriptions.transitions t
    WHERE t.subscription_id = s.id AND t.from_status IN ('cancelled', 'expired') ORDER BY t.at DESC, t.id DESC LIMIT 1);

-- +goose Down
DROP INDEX subscriptions.subscriptions_gateway_end_open;
ALTER TABLE subscriptions.subscriptions DROP COLUMN gateway_end_open_since;
