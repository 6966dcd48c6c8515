-- Each subscription that a dispute holds and that something at its gateway charges has its collection paused, or being paused, 15 minutes after the dispute is known.
SELECT s.id AS id, 'dispute ' || min(d.gateway_dispute_id) AS detail
FROM subscriptions.subscriptions s JOIN payments.disputes d ON d.purpose = 'subscription' AND d.local_id = s.id AND d.state = 'open'
WHERE s.has_chargeback AND s.status IN ('pending', 'active', 'suspended') AND d.updated_at < $1::timestamptz - interval '15 minutes'
    AND (s.gwa_subscription_id IS NOT NULL OR s.gwb_subscription_id IS NOT NULL OR s.pix_automatic AND s.gwa_pix_auth_id IS NOT NULL)
    AND s.register_update_date < $1::timestamptz - interval '15 minutes'
    AND NOT EXISTS (SELECT FROM subscriptions.pauses p WHERE p.subscription_id = s.id AND p.state IN ('pausing', 'paused'))
GROUP BY s.id
