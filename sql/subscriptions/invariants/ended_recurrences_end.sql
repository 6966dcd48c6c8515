-- A recurrence that was to end is ended at its gateway: also when its subscription was opened again meanwhile, for one period, by late money or an admin.
SELECT s.id AS id, 'its end at ' || s.gateway || ' is not confirmed since ' || s.gateway_end_open_since AS detail
FROM subscriptions.subscriptions s
WHERE s.status IN ('active', 'suspended') AND s.gateway_end_open_since < $1::timestamptz - interval '1 day'
UNION ALL
SELECT s.id, 'opened again until ' || s.expires_at || ', and what charges it at ' || s.gateway || ' is not asked to end'
FROM subscriptions.subscriptions s
WHERE s.status IN ('active', 'suspended') AND s.expires_at IS NOT NULL AND s.gateway_deleted_at IS NULL AND s.gateway_end_open_since IS NULL
    AND NOT s.cancel_at_period_end AND (s.gwa_subscription_id IS NOT NULL OR s.gwb_subscription_id IS NOT NULL OR s.pix_automatic AND s.gwa_pix_auth_id IS NOT NULL)
    AND NOT EXISTS (SELECT FROM subscriptions.charge_moves m WHERE m.subscription_id = s.id)
    AND (SELECT t.reason IN ('late_money', 'admin_activated') FROM subscriptions.transitions t
        WHERE t.subscription_id = s.id AND t.from_status IN ('cancelled', 'expired') ORDER BY t.id DESC LIMIT 1)
