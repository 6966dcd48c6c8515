-- +goose Up
-- Signing out and being ended from elsewhere are told apart: what somebody began outlives the first alone.
ALTER TABLE accounts.sessions ADD COLUMN signed_out boolean NOT NULL DEFAULT false,
    ADD CONSTRAINT sessions_signed_out_when_ended CHECK (ended_at IS NOT NULL OR NOT signed_out) NOT VALID;
ALTER TABLE accounts.sessions VALIDATE CONSTRAINT sessions_signed_out_when_ended;
COMMENT ON COLUMN accounts.sessions.signed_out IS 'It ended itself, with a token of its own; false where another session or root ended it. What was begun in it goes on after the first alone.';

-- +goose Down
ALTER TABLE accounts.sessions DROP COLUMN signed_out;
