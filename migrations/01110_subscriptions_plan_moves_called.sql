-- +goose Up
-- Of a move to another plan that the release before has tried, a call may have acted: that a repetition is refused proves
-- nothing then. 01093 has counted no call.
WITH made AS (
    INSERT INTO payments.intents (id, kind, subject_id, customer_id, gateway, reference, calls, call_ends_at, next_look_at, created_at)
    SELECT platform.new_object_id(), 'plan_move', m.id, s.customer_id, s.gateway, s.id, 1, now(), now(), now()
    FROM subscriptions.plan_moves m JOIN subscriptions.subscriptions s ON s.id = m.subscription_id WHERE m.state = 'open' AND m.tries > 0
    ON CONFLICT (kind, subject_id, item) WHERE state = 'open' DO UPDATE SET calls = 1 WHERE intents.calls = 0 AND intents.looks = 0
    RETURNING id, created_at, xmax = 0 AS is_new
)
INSERT INTO payments.intent_steps (intent_id, at, by, outcome, state) SELECT id, created_at, 'open', 'seen', 'open' FROM made WHERE is_new;

-- +goose Down
SELECT 1; -- the count is right for the release before, too
