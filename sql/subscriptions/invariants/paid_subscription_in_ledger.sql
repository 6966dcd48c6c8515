-- A subscription that says when it was last paid has a payment in the ledger.
SELECT s.id AS id, 'paid at ' || s.last_payment_at AS detail
FROM subscriptions.subscriptions s
WHERE s.last_payment_at IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM payments.payments p WHERE p.purpose = 'subscription' AND p.local_id = s.id)
