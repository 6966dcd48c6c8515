-- +goose Up
ALTER TABLE payments.intents DROP CONSTRAINT intents_kind_known;
ALTER TABLE payments.intents ADD CONSTRAINT intents_kind_known CHECK (kind IN (
    'subscription', 'subscription_gone', 'open_invoice', 'order', 'refund', 'debit', 'debit_retry', 'plan_move', 'charge_move', 'pause', 'end',
    'renewal_charge', 'resume')) NOT VALID;
ALTER TABLE payments.intents VALIDATE CONSTRAINT intents_kind_known;

-- +goose Down
DELETE FROM payments.intents WHERE kind = 'resume';
ALTER TABLE payments.intents DROP CONSTRAINT intents_kind_known;
ALTER TABLE payments.intents ADD CONSTRAINT intents_kind_known CHECK (kind IN (
    'subscription', 'subscription_gone', 'open_invoice', 'order', 'refund', 'debit', 'debit_retry', 'plan_move', 'charge_move', 'pause', 'end',
    'renewal_charge'));
