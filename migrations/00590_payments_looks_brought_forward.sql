-- +goose Up
ALTER TABLE payments.intents ADD COLUMN forwards integer NOT NULL DEFAULT 0;
COMMENT ON COLUMN payments.intents.forwards IS 'How often its look was brought forward since its last right answer: each time it waits twice as long, so that an object that is always answered oddly keeps to its pauses.';

-- +goose Down
ALTER TABLE payments.intents DROP COLUMN forwards;
