-- +goose Up
CREATE TABLE accounts.totp (
    user_id      platform.object_id PRIMARY KEY,
    secret       bytea NOT NULL,
    created_at   timestamptz NOT NULL,
    confirmed_at timestamptz,
    last_step    bigint NOT NULL DEFAULT 0,
    CONSTRAINT totp_user_exists FOREIGN KEY (user_id) REFERENCES accounts.users (id) ON DELETE CASCADE,
    CONSTRAINT totp_last_step_not_negative CHECK (last_step >= 0)
);
COMMENT ON TABLE accounts.totp IS 'The second factor of users who want one: what their authenticator counts with (RFC 6238).';
COMMENT ON COLUMN accounts.totp.secret IS 'Sealed with AES-256-GCM under a key derived from FILE_KEY, and bound to the user.';
COMMENT ON COLUMN accounts.totp.confirmed_at IS 'When a first code proved that the authenticator has the secret. Null: it is being set up, and asked for nowhere.';
COMMENT ON COLUMN accounts.totp.last_step IS 'The step of 30 seconds, since 1970, whose code was used last: neither it nor an earlier one is taken again.';

CREATE TABLE accounts.recovery_codes (
    user_id  platform.object_id NOT NULL,
    code_mac bytea NOT NULL,
    CONSTRAINT recovery_codes_once PRIMARY KEY (user_id, code_mac),
    CONSTRAINT recovery_codes_of_totp FOREIGN KEY (user_id) REFERENCES accounts.totp (user_id) ON DELETE CASCADE
);
COMMENT ON TABLE accounts.recovery_codes IS 'What stands in for the authenticator, each once: a row goes when its code is used.';
COMMENT ON COLUMN accounts.recovery_codes.code_mac IS 'HMAC-SHA-256 of user and code under a key of the server.';

-- +goose Down
DROP TABLE accounts.recovery_codes;
DROP TABLE accounts.totp;
