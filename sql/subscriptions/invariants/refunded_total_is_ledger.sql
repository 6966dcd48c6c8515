-- total_refunded of a subscription is the sum of its refunds that are done.
SELECT s.id AS id, s.total_refunded_cents || ' cents, the ledger has ' || coalesce(r.cents, 0) AS detail
FROM subscriptions.subscriptions s
LEFT JOIN (SELECT local_id, sum(amount_cents) AS cents FROM payments.refunds
    WHERE purpose = 'subscription' AND status = 'done' GROUP BY local_id) r ON r.local_id = s.id
WHERE s.total_refunded_cents <> coalesce(r.cents, 0)
