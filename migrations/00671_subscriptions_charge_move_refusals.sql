-- +goose Up
ALTER TABLE subscriptions.charge_moves
    ADD COLUMN refused_since timestamptz,
    ADD COLUMN refusal       text COLLATE "C";
COMMENT ON COLUMN subscriptions.charge_moves.refused_since IS 'Since when the gateway finds the open order wrong; it is asked again for a quarter of an hour before that counts.';
COMMENT ON COLUMN subscriptions.charge_moves.refusal IS 'What the gateway said when that counted: the extension was taken back. Null of a refused order: nothing charges there any more, and the extension stands.';

-- +goose Down
ALTER TABLE subscriptions.charge_moves DROP COLUMN refused_since, DROP COLUMN refusal;
