-- +goose Up
ALTER TABLE payments.unapplied_payments ADD COLUMN bought boolean NOT NULL DEFAULT false, ADD COLUMN reference platform.object_id;
COMMENT ON COLUMN payments.unapplied_payments.bought IS 'It paid for a period all the same, and is listed for a part that was taken back, for a refund that failed, or for what was not used of it.';
COMMENT ON COLUMN payments.unapplied_payments.reference IS 'Our id that the gateway was told with the payment, where it is another than the subscription''s or order''s: a renewal charge''s.';
UPDATE payments.unapplied_payments u SET bought = true
FROM payments.unapplied_decisions d
WHERE d.unapplied_id = u.id AND d.from_state IS NULL
  AND (d.reason LIKE 'The payer''s bank took back R$ %' OR d.reason LIKE 'The refund of a withdrawal failed%' OR d.reason LIKE 'The gateway refused the refund of a withdrawal%');

WITH back AS (
    SELECT u.id, u.amount_cents FROM payments.unapplied_payments u
    JOIN payments.payments p ON p.gateway = u.gateway AND p.gateway_payment_id = u.gateway_payment_id
    WHERE u.state = 'kept' AND p.amount_cents <= (
        SELECT sum(r.amount_cents) FROM payments.refunds r
        WHERE r.gateway = p.gateway AND r.payment_ref = coalesce(p.payment_intent_id, p.gateway_payment_id) AND r.status = 'done')
), followed AS (
    UPDATE payments.unapplied_payments u SET state = 'refunded', updated_at = now() FROM back WHERE u.id = back.id
)
INSERT INTO payments.unapplied_decisions (unapplied_id, at, from_state, to_state, source, amount_cents, reason)
SELECT id, now(), 'kept', 'refunded', 'gateway', amount_cents, 'All of it has been given back.' FROM back;

CREATE VIEW payments.bought_nothing AS
SELECT p.gateway, p.gateway_payment_id, p.payment_intent_id, p.purpose, p.local_id
FROM payments.unapplied_payments u
JOIN payments.payments p ON p.gateway = u.gateway AND p.gateway_payment_id = u.subject
WHERE u.gateway_payment_id IS NOT NULL AND u.state <> 'extended' AND u.kind <> 'unknown' AND NOT u.bought;
COMMENT ON VIEW payments.bought_nothing IS 'Payments in the ledger that gave nobody anything: what becomes of them touches no subscription.';

-- +goose Down
DROP VIEW payments.bought_nothing;
ALTER TABLE payments.unapplied_payments DROP COLUMN bought, DROP COLUMN reference;
