-- +goose Up
-- What became of a first call, or of the order of a code, the checks of payments.intents alone find out: each is written
-- together with its intent, by the release before, too. What has none gets it here.
ALTER TABLE subscriptions.subscriptions DROP CONSTRAINT subscriptions_intent_has_recovery;
ALTER TABLE subscriptions.renewal_charges DROP CONSTRAINT renewal_charges_intent_has_look;
COMMENT ON COLUMN subscriptions.subscriptions.recovery_at IS 'Of the release before; goes with the next one, as its index does.';
COMMENT ON COLUMN subscriptions.subscriptions.recovery_tries IS 'Of the release before; goes with the next one.';
COMMENT ON COLUMN subscriptions.renewal_charges.look_at IS 'Of the release before; goes with the next one.';
COMMENT ON COLUMN subscriptions.renewal_charges.misses IS 'Of the release before; goes with the next one.';

WITH open AS (
    SELECT 'subscription' AS kind, id, customer_id, gateway FROM subscriptions.subscriptions WHERE intent_open
    UNION ALL
    SELECT 'renewal_charge', id, customer_id, gateway FROM subscriptions.renewal_charges WHERE intent_open
), made AS (
    INSERT INTO payments.intents (id, kind, subject_id, customer_id, gateway, reference, call_ends_at, next_look_at, created_at)
    SELECT platform.new_object_id(), kind, id, customer_id, gateway, id, now(), now(), now() FROM open
    ON CONFLICT DO NOTHING
    RETURNING id, created_at
)
INSERT INTO payments.intent_steps (intent_id, at, by, outcome, state) SELECT id, created_at, 'open', 'seen', 'open' FROM made;

-- +goose Down
UPDATE subscriptions.subscriptions SET recovery_at = CASE WHEN intent_open THEN now() END WHERE intent_open <> (recovery_at IS NOT NULL);
UPDATE subscriptions.renewal_charges SET look_at = CASE WHEN intent_open THEN now() END WHERE intent_open <> (look_at IS NOT NULL);
ALTER TABLE subscriptions.subscriptions ADD CONSTRAINT subscriptions_intent_has_recovery CHECK (intent_open = (recovery_at IS NOT NULL));
ALTER TABLE subscriptions.renewal_charges ADD CONSTRAINT renewal_charges_intent_has_look CHECK (intent_open = (look_at IS NOT NULL));
COMMENT ON COLUMN subscriptions.subscriptions.recovery_at IS 'When the recovery job may next ask the gateway about an open intent.';
COMMENT ON COLUMN subscriptions.subscriptions.recovery_tries IS NULL;
COMMENT ON COLUMN subscriptions.renewal_charges.look_at IS 'Read by the release before payments.intents had the looks; goes with the next one. Lies ahead while the order has an intent.';
COMMENT ON COLUMN subscriptions.renewal_charges.misses IS 'Written by the release before payments.intents had the looks; goes with the next one.';
