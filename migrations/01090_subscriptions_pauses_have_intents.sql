-- +goose Up
-- Pauses and moves of charges are carried out by the checks of payments.intents alone: each is written together with its
-- intent. Those that are open now get theirs; one that the release before makes meanwhile gets it from that release's job.
ALTER TABLE subscriptions.pauses DROP CONSTRAINT pauses_asked_has_next_try;
ALTER TABLE subscriptions.charge_moves DROP CONSTRAINT charge_moves_open_has_next_try;
COMMENT ON COLUMN subscriptions.pauses.tries IS 'Of the release before; goes with the next one.';
COMMENT ON COLUMN subscriptions.pauses.next_try_at IS 'Of the release before; goes with the next one.';
COMMENT ON COLUMN subscriptions.pauses.leased_until IS 'Of the release before; goes with the next one.';
COMMENT ON COLUMN subscriptions.charge_moves.tries IS 'Of the release before; goes with the next one.';
COMMENT ON COLUMN subscriptions.charge_moves.next_try_at IS 'Of the release before; goes with the next one.';

WITH open AS (
    SELECT 'pause' AS kind, id, subscription_id FROM subscriptions.pauses WHERE state IN ('pausing', 'resuming')
    UNION ALL
    SELECT 'charge_move', id, subscription_id FROM subscriptions.charge_moves WHERE state = 'open'
), made AS (
    INSERT INTO payments.intents (id, kind, subject_id, customer_id, gateway, reference, call_ends_at, next_look_at, created_at)
    SELECT platform.new_object_id(), o.kind, o.id, s.customer_id, s.gateway, s.id, now(), now(), now()
    FROM open o JOIN subscriptions.subscriptions s ON s.id = o.subscription_id
    ON CONFLICT DO NOTHING
    RETURNING id, created_at
)
INSERT INTO payments.intent_steps (intent_id, at, by, outcome, state) SELECT id, created_at, 'open', 'seen', 'open' FROM made;

-- +goose Down
UPDATE subscriptions.pauses SET next_try_at = CASE WHEN state IN ('pausing', 'resuming') THEN now() END
WHERE (state IN ('pausing', 'resuming')) <> (next_try_at IS NOT NULL);
UPDATE subscriptions.charge_moves SET next_try_at = CASE WHEN state = 'open' THEN now() END WHERE (state = 'open') <> (next_try_at IS NOT NULL);
ALTER TABLE subscriptions.pauses ADD CONSTRAINT pauses_asked_has_next_try CHECK ((state IN ('pausing', 'resuming')) = (next_try_at IS NOT NULL));
ALTER TABLE subscriptions.charge_moves ADD CONSTRAINT charge_moves_open_has_next_try CHECK ((state = 'open') = (next_try_at IS NOT NULL));
COMMENT ON COLUMN subscriptions.charge_moves.next_try_at IS 'When the sweep takes it up, unless an intent of it is open: after a failed try the looks of payments.intents repeat it.';
COMMENT ON COLUMN subscriptions.charge_moves.tries IS NULL;
COMMENT ON COLUMN subscriptions.pauses.leased_until IS 'Until then one worker asks the gateway, and no other does.';
COMMENT ON COLUMN subscriptions.pauses.next_try_at IS 'When the sweep takes it up, unless an intent of it is open: after a failed try the looks of payments.intents repeat it.';
COMMENT ON COLUMN subscriptions.pauses.tries IS NULL;
