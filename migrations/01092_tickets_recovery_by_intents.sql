-- +goose Up
-- What became of a purchase's call the checks of payments.intents alone find out: each is written together with its
-- intent, by the release before, too. What has none gets it here.
ALTER TABLE tickets.orders DROP CONSTRAINT orders_intent_has_recovery;
COMMENT ON COLUMN tickets.orders.recovery_at IS 'Of the release before; goes with the next one, as its index does.';
COMMENT ON COLUMN tickets.orders.recovery_tries IS 'Of the release before; goes with the next one.';

WITH made AS (
    INSERT INTO payments.intents (id, kind, subject_id, customer_id, gateway, reference, call_ends_at, next_look_at, created_at)
    SELECT platform.new_object_id(), 'order', id, customer_id, gateway, id, now(), now(), now() FROM tickets.orders WHERE intent_open
    ON CONFLICT DO NOTHING
    RETURNING id, created_at
)
INSERT INTO payments.intent_steps (intent_id, at, by, outcome, state) SELECT id, created_at, 'open', 'seen', 'open' FROM made;

-- +goose Down
UPDATE tickets.orders SET recovery_at = CASE WHEN intent_open THEN now() END WHERE intent_open <> (recovery_at IS NOT NULL);
ALTER TABLE tickets.orders ADD CONSTRAINT orders_intent_has_recovery CHECK (intent_open = (recovery_at IS NOT NULL));
COMMENT ON COLUMN tickets.orders.recovery_at IS 'When the recovery job may next ask the gateway about an open intent.';
COMMENT ON COLUMN tickets.orders.recovery_tries IS NULL;
