-- No subscription with a chargeback that nobody has lifted is active while its dispute holds money.
SELECT s.id AS id, 'dispute ' || min(d.gateway_dispute_id) AS detail
FROM subscriptions.subscriptions s JOIN payments.disputes d ON d.purpose = 'subscription' AND d.local_id = s.id AND d.state = 'open'
WHERE s.status = 'active' AND s.has_chargeback
GROUP BY s.id
