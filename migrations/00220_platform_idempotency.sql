-- +goose Up
CREATE TABLE platform.idempotency_keys (
    key_mac       bytea PRIMARY KEY,
    body_mac      bytea NOT NULL,
    attempt_id    platform.object_id NOT NULL,
    running_until timestamptz NOT NULL,
    subject_id    platform.object_id,
    answer        bytea,
    created_at    timestamptz NOT NULL,
    CONSTRAINT idempotency_keys_macs CHECK (length(key_mac) = 32 AND length(body_mac) = 32)
);
COMMENT ON TABLE platform.idempotency_keys IS 'Requests that were sent with an Idempotency-Key in the last 24 hours, with the answer that their repetitions get. Swept by job.';
COMMENT ON COLUMN platform.idempotency_keys.key_mac IS 'HMAC-SHA-256 of route, caller and key.';
COMMENT ON COLUMN platform.idempotency_keys.body_mac IS 'HMAC-SHA-256 of the request body, by which another body is told: nobody finds card data in it.';
COMMENT ON COLUMN platform.idempotency_keys.attempt_id IS 'Whoever works on the request. One who has lost it to another may not commit.';
COMMENT ON COLUMN platform.idempotency_keys.running_until IS 'Until then the attempt is under way; later, without an answer, it was cut off and may be taken over.';
COMMENT ON COLUMN platform.idempotency_keys.subject_id IS 'The order or subscription that stands for the wish, set in the transaction that wrote it: a repetition never makes a second one while this one lives.';
COMMENT ON COLUMN platform.idempotency_keys.answer IS 'Status and body of the first answer, sealed with AES-256-GCM: it may hold secrets of gateways and codes of tickets.';
CREATE INDEX idempotency_keys_by_age ON platform.idempotency_keys (created_at);
COMMENT ON SCHEMA platform IS 'What every module shares: the id domain, small functions, and the keys of repeatable requests.';

-- +goose Down
COMMENT ON SCHEMA platform IS 'What every module shares: the id domain and small functions. No tables.';
DROP TABLE platform.idempotency_keys;
