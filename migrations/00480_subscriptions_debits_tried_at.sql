-- +goose Up
ALTER TABLE subscriptions.debits ADD COLUMN tried_at timestamptz;
UPDATE subscriptions.debits SET tried_at = register_date;
ALTER TABLE subscriptions.debits ALTER COLUMN tried_at SET NOT NULL;
COMMENT ON COLUMN subscriptions.debits.tried_at IS 'When somebody last set about ordering it: who comes soon after keeps off, since the gateway takes two orders of one cycle.';

-- +goose Down
ALTER TABLE subscriptions.debits DROP COLUMN tried_at;
