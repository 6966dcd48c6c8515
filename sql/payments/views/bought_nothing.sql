CREATE OR REPLACE VIEW payments.bought_nothing AS
SELECT p.gateway, p.gateway_payment_id, p.payment_intent_id, p.purpose, p.local_id
FROM payments.unapplied_payments u
JOIN payments.payments p ON p.gateway = u.gateway AND p.gateway_payment_id = u.subject
WHERE u.gateway_payment_id IS NOT NULL AND u.state <> 'extended' AND u.kind <> 'unknown' AND NOT u.bought;
COMMENT ON VIEW payments.bought_nothing IS 'Payments in the ledger that gave nobody anything: what becomes of them touches no subscription.';
