-- +goose Up
CREATE TABLE accounts.codes (
    id         platform.object_id PRIMARY KEY,
    user_id    platform.object_id NOT NULL,
    purpose    text COLLATE "C" NOT NULL,
    address    text COLLATE "C" NOT NULL,
    code_mac   bytea NOT NULL,
    attempts   integer NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    CONSTRAINT codes_one_per_purpose UNIQUE (user_id, purpose),
    CONSTRAINT codes_user_exists FOREIGN KEY (user_id) REFERENCES accounts.users (id) ON DELETE CASCADE,
    CONSTRAINT codes_purpose_known CHECK (purpose IN ('verification', 'reset', 'email_change')),
    CONSTRAINT codes_attempts_not_negative CHECK (attempts >= 0)
);
COMMENT ON TABLE accounts.codes IS 'The live 6-digit code of a user and purpose; a new one overwrites the old. The digits stand nowhere: they are an HMAC of the id under a server key.';
COMMENT ON COLUMN accounts.codes.address IS 'Where the code is mailed; for email_change the new address.';
COMMENT ON COLUMN accounts.codes.code_mac IS 'HMAC-SHA-256 of id and digits under another server key: the plain hash of six digits is reversed at once.';
COMMENT ON COLUMN accounts.codes.attempts IS 'Codes tried, right or wrong.';
CREATE INDEX codes_by_expiry ON accounts.codes (expires_at);

CREATE TABLE accounts.code_requests (
    address_mac  bytea NOT NULL,
    purpose      text COLLATE "C" NOT NULL,
    requested_at timestamptz NOT NULL,
    CONSTRAINT code_requests_one_per_address PRIMARY KEY (address_mac, purpose)
);
COMMENT ON TABLE accounts.code_requests IS 'When an address last asked for a code, whether or not it has an account: the cooldown must not tell which. Old rows are swept.';
COMMENT ON COLUMN accounts.code_requests.address_mac IS 'HMAC-SHA-256 of the folded address: strangers'' addresses are not kept.';
CREATE INDEX code_requests_by_age ON accounts.code_requests (requested_at);

-- +goose Down
DROP TABLE accounts.code_requests;
DROP TABLE accounts.codes;
