-- The payment of an automatic PIX debit, once it is in the ledger, is of the debit's own subscription.
SELECT d.gateway_payment_id AS id, 'debit of ' || d.subscription_id || ', payment of ' || p.purpose || ' ' || p.local_id AS detail
FROM subscriptions.debits d JOIN subscriptions.subscriptions s ON s.id = d.subscription_id
JOIN payments.payments p ON p.gateway = s.gateway AND p.gateway_payment_id = d.gateway_payment_id
WHERE p.purpose <> 'subscription' OR p.local_id <> d.subscription_id
