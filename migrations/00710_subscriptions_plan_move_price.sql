-- +goose Up
ALTER TABLE subscriptions.plan_moves
    ADD COLUMN from_cents bigint,
    ADD CONSTRAINT plan_moves_price_not_negative CHECK (from_cents >= 0);
COMMENT ON COLUMN subscriptions.plan_moves.from_cents IS 'The price a month that the move leaves: a charge made ahead may still be of it. Null of moves ordered before this was kept.';

-- +goose Down
ALTER TABLE subscriptions.plan_moves DROP COLUMN from_cents;
