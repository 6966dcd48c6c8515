-- Each subscription that a dispute holds, of its own money or of one which it followed by renewals, and that something at its gateway charges has its collection paused, or being paused, 15 minutes after the dispute is known.
WITH RECURSIVE held AS (
    SELECT d.local_id AS id, d.gateway_dispute_id AS dispute, d.updated_at AS since FROM payments.disputes d WHERE d.purpose = 'subscription' AND d.state = 'open'
        AND NOT EXISTS (SELECT FROM payments.bought_nothing n WHERE n.gateway = d.gateway AND d.payment_ref IN (n.gateway_payment_id, n.payment_intent_id))
    UNION
    SELECT s.id, h.dispute, h.since FROM held h JOIN subscriptions.subscriptions s ON s.renews_id = h.id
)
SELECT s.id AS id, 'dispute ' || min(h.dispute) AS detail
FROM held h JOIN subscriptions.subscriptions s ON s.id = h.id
WHERE s.has_chargeback AND s.status IN ('pending', 'active', 'suspended') AND h.since < $1::timestamptz - interval '15 minutes'
    AND (s.gwa_subscription_id IS NOT NULL OR s.gwb_subscription_id IS NOT NULL OR s.pix_automatic AND s.gwa_pix_auth_id IS NOT NULL)
    AND s.gateway_deleted_at IS NULL
    AND s.register_update_date < $1::timestamptz - interval '15 minutes'
    AND NOT EXISTS (SELECT FROM subscriptions.pauses p WHERE p.subscription_id = s.id AND p.state IN ('pausing', 'paused'))
GROUP BY s.id
