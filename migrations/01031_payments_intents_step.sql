-- +goose Up
ALTER TABLE payments.intents ADD COLUMN step smallint NOT NULL DEFAULT 0;
ALTER TABLE payments.intents ADD CONSTRAINT intents_step_not_negative CHECK (step >= 0);
COMMENT ON COLUMN payments.intents.step IS 'Which call of its order, counted from 0, calls and misses are of: what was missed of one proves nothing about the next.';

-- +goose Down
ALTER TABLE payments.intents DROP COLUMN step;
