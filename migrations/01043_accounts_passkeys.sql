-- +goose Up
CREATE TABLE accounts.passkeys (
    id              platform.object_id PRIMARY KEY,
    user_id         platform.object_id NOT NULL,
    credential_id   bytea NOT NULL,
    public_key      bytea NOT NULL,
    sign_count      bigint NOT NULL,
    backup_eligible boolean NOT NULL,
    backed_up       boolean NOT NULL,
    transports      text[] NOT NULL,
    name            text COLLATE "C" NOT NULL,
    created_at      timestamptz NOT NULL,
    used_at         timestamptz,
    CONSTRAINT passkeys_user_exists FOREIGN KEY (user_id) REFERENCES accounts.users (id) ON DELETE CASCADE,
    CONSTRAINT passkeys_credential_of_one_user UNIQUE (credential_id),
    CONSTRAINT passkeys_sign_count_not_negative CHECK (sign_count >= 0),
    CONSTRAINT passkeys_name_length CHECK (length(name) BETWEEN 1 AND 100)
);
COMMENT ON TABLE accounts.passkeys IS 'With what users sign in without a password (WebAuthn). Nothing of it is secret: the private key never leaves the authenticator.';
COMMENT ON COLUMN accounts.passkeys.public_key IS 'As the authenticator gave it, in the form of COSE.';
COMMENT ON COLUMN accounts.passkeys.sign_count IS 'How often the authenticator says that it has signed. It has to rise with each use, or stay 0 of those that do not count: else there is a copy of it.';
COMMENT ON COLUMN accounts.passkeys.backup_eligible IS 'Whether it may be copied to other devices of its owner, as passkeys of phones are; it never changes.';
CREATE INDEX passkeys_by_user ON accounts.passkeys (user_id, created_at);

CREATE TABLE accounts.passkey_challenges (
    challenge_hash text COLLATE "C" PRIMARY KEY,
    user_id        platform.object_id,
    expires_at     timestamptz NOT NULL,
    CONSTRAINT passkey_challenges_user_exists FOREIGN KEY (user_id) REFERENCES accounts.users (id) ON DELETE CASCADE,
    CONSTRAINT passkey_challenges_hash_form CHECK (challenge_hash ~ '^[0-9a-f]{64}$')
);
COMMENT ON TABLE accounts.passkey_challenges IS 'What authenticators were given to sign, each once: a row goes when its answer comes.';
COMMENT ON COLUMN accounts.passkey_challenges.challenge_hash IS 'Hex SHA-256 of the challenge, which is 32 random bytes.';
COMMENT ON COLUMN accounts.passkey_challenges.user_id IS 'Who registers a passkey; null for a sign-in, whose user is not known yet.';
CREATE INDEX passkey_challenges_by_expiry ON accounts.passkey_challenges (expires_at);
CREATE INDEX passkey_challenges_by_user ON accounts.passkey_challenges (user_id) WHERE user_id IS NOT NULL;

-- +goose Down
DROP TABLE accounts.passkey_challenges;
DROP TABLE accounts.passkeys;
