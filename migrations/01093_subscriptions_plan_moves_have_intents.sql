-- +goose Up
-- An order to move to another plan is written together with its intent. Those that are open now and have none get it.
ALTER TABLE subscriptions.plan_moves DROP CONSTRAINT plan_moves_open_has_next_try;
COMMENT ON COLUMN subscriptions.plan_moves.tries IS 'Of the release before; goes with the next one.';
COMMENT ON COLUMN subscriptions.plan_moves.next_try_at IS 'Of the release before; goes with the next one.';

WITH made AS (
    INSERT INTO payments.intents (id, kind, subject_id, customer_id, gateway, reference, call_ends_at, next_look_at, created_at)
    SELECT platform.new_object_id(), 'plan_move', m.id, s.customer_id, s.gateway, s.id, now(), now(), now()
    FROM subscriptions.plan_moves m JOIN subscriptions.subscriptions s ON s.id = m.subscription_id WHERE m.state = 'open'
    ON CONFLICT DO NOTHING
    RETURNING id, created_at
)
INSERT INTO payments.intent_steps (intent_id, at, by, outcome, state) SELECT id, created_at, 'open', 'seen', 'open' FROM made;

-- +goose Down
UPDATE subscriptions.plan_moves SET next_try_at = CASE WHEN state = 'open' THEN now() END WHERE (state = 'open') <> (next_try_at IS NOT NULL);
ALTER TABLE subscriptions.plan_moves ADD CONSTRAINT plan_moves_open_has_next_try CHECK ((state = 'open') = (next_try_at IS NOT NULL));
COMMENT ON COLUMN subscriptions.plan_moves.next_try_at IS 'When the sweep takes it up, unless an intent of it is open: after a failed try the looks of payments.intents repeat it.';
COMMENT ON COLUMN subscriptions.plan_moves.tries IS NULL;
