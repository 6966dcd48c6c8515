-- +goose Up
UPDATE subscriptions.subscriptions SET last_event_at = now() WHERE last_event_at > now();
COMMENT ON COLUMN subscriptions.subscriptions.last_event_at IS 'The gateway''s instant of the newest status event applied, at most that of its coming; older ones are ignored.';

-- +goose Down
COMMENT ON COLUMN subscriptions.subscriptions.last_event_at IS 'The gateway''s instant of the newest status event applied; older ones are ignored.';
