-- +goose Up
-- Of a move to another plan that the release before has tried, a call may have acted: that a repetition is refused proves
-- nothing then. 01093 has counted no call.
UPDATE payments.intents i SET calls = 1 FROM subscriptions.plan_moves m
WHERE m.id = i.subject_id AND m.tries > 0 AND i.kind = 'plan_move' AND i.state = 'open' AND i.calls = 0 AND i.looks = 0;

-- +goose Down
SELECT 1; -- the count is right for the release before, too
