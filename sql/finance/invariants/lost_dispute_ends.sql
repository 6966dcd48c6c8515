-- Each subscription with a lost dispute is cancelled or expired, unless an admin has activated it since, 15 minutes after the dispute is known.
SELECT s.id AS id, s.status || ', lost ' || min(d.gateway_dispute_id) AS detail
FROM subscriptions.subscriptions s JOIN payments.disputes d ON d.purpose = 'subscription' AND d.local_id = s.id AND d.state = 'lost'
WHERE s.status NOT IN ('cancelled', 'expired') AND d.updated_at < $1::timestamptz - interval '15 minutes'
    AND NOT EXISTS (SELECT FROM subscriptions.transitions t WHERE t.subscription_id = s.id AND t.reason = 'admin_activated' AND t.at >= d.updated_at)
GROUP BY s.id, s.status
