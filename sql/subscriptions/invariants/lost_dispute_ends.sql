-- Each subscription with a lost dispute, and each that followed it by renewals, is cancelled or expired, unless an admin has activated it since, 15 minutes after the dispute is known.
WITH RECURSIVE lost AS (
    SELECT d.local_id AS id, d.gateway_dispute_id AS dispute, d.updated_at AS since FROM payments.disputes d WHERE d.purpose = 'subscription' AND d.state = 'lost'
        AND NOT EXISTS (SELECT FROM payments.bought_nothing n WHERE n.gateway = d.gateway AND d.payment_ref IN (n.gateway_payment_id, n.payment_intent_id))
    UNION
    SELECT s.id, l.dispute, l.since FROM lost l JOIN subscriptions.subscriptions s ON s.renews_id = l.id
)
SELECT s.id AS id, s.status || ', lost ' || min(l.dispute) AS detail
FROM lost l JOIN subscriptions.subscriptions s ON s.id = l.id
WHERE s.status NOT IN ('cancelled', 'expired') AND l.since < $1::timestamptz - interval '15 minutes'
    AND NOT EXISTS (SELECT FROM subscriptions.transitions t WHERE t.customer_id = s.customer_id AND t.reason = 'admin_activated' AND t.at >= l.since)
GROUP BY s.id, s.status
