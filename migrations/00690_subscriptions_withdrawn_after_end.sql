-- +goose Up
ALTER TABLE subscriptions.transitions DROP CONSTRAINT transitions_moves;
ALTER TABLE subscriptions.transitions ADD CONSTRAINT transitions_moves CHECK (from_status IS DISTINCT FROM to_status OR reason = 'withdrawn') NOT VALID;
ALTER TABLE subscriptions.transitions VALIDATE CONSTRAINT transitions_moves;
COMMENT ON CONSTRAINT transitions_moves ON subscriptions.transitions IS 'A withdrawal from what has ended already leaves the status as it is.';

-- +goose Down
ALTER TABLE subscriptions.transitions DROP CONSTRAINT transitions_moves;
ALTER TABLE subscriptions.transitions ADD CONSTRAINT transitions_moves CHECK (from_status IS DISTINCT FROM to_status) NOT VALID; -- withdrawals from what had ended stay
