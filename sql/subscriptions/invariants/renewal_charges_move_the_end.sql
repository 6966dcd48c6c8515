-- A PIX code of a renewal that is paid has moved the end of its subscription, or stands on the list of unapplied payments.
SELECT c.id AS id, c.state || ', but payment ' || p.gateway_payment_id || ' of it is in the ledger' AS detail
FROM subscriptions.renewal_charges c JOIN payments.payments p ON p.gateway = c.gateway AND p.gateway_payment_id = c.gateway_payment_id
WHERE c.state IN ('open', 'gone')
UNION ALL
SELECT c.id, 'paid, and moved the end from ' || c.moved_from || ' to ' || coalesce(c.moved_to::text, 'nothing')
FROM subscriptions.renewal_charges c
WHERE c.state = 'paid' AND (c.moved_to IS NULL OR c.moved_to <= c.moved_from)
UNION ALL
SELECT c.id, 'paid, but its money is not in the ledger as that of subscription ' || c.subscription_id
FROM subscriptions.renewal_charges c
WHERE c.state IN ('paid', 'unapplied') AND NOT EXISTS (
    SELECT 1 FROM payments.payments p
    WHERE p.gateway = c.gateway AND p.gateway_payment_id = c.gateway_payment_id AND p.purpose = 'subscription' AND p.local_id = c.subscription_id)
UNION ALL
SELECT c.id, 'paid to nobody, and on no list'
FROM subscriptions.renewal_charges c
WHERE c.state = 'unapplied' AND NOT EXISTS (
    SELECT 1 FROM payments.unapplied_payments u WHERE u.gateway = c.gateway AND u.gateway_payment_id = c.gateway_payment_id)
