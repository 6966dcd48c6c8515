-- No subscription is active while its money, or that of one which it followed by renewals, is held by a dispute, unless an admin has activated it since.
WITH RECURSIVE held AS (
    SELECT d.local_id AS id, d.gateway_dispute_id AS dispute, d.created_at AS since FROM payments.disputes d WHERE d.purpose = 'subscription' AND d.state = 'open'
        AND NOT EXISTS (SELECT FROM payments.bought_nothing n WHERE n.gateway = d.gateway AND d.payment_ref IN (n.gateway_payment_id, n.payment_intent_id))
    UNION
    SELECT s.id, h.dispute, h.since FROM held h JOIN subscriptions.subscriptions s ON s.renews_id = h.id
)
SELECT s.id AS id, 'dispute ' || min(h.dispute) AS detail
FROM held h JOIN subscriptions.subscriptions s ON s.id = h.id
WHERE s.status = 'active'
    AND NOT EXISTS (SELECT FROM subscriptions.transitions t WHERE t.customer_id = s.customer_id AND t.reason = 'admin_activated' AND t.at >= h.since)
GROUP BY s.id
