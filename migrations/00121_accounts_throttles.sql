-- +goose Up
CREATE TABLE accounts.throttles (
    subject_mac bytea PRIMARY KEY,
    scope       text COLLATE "C" NOT NULL,
    failures    integer NOT NULL,
    failed_at   timestamptz NOT NULL,
    CONSTRAINT throttles_failures_positive CHECK (failures > 0)
);
COMMENT ON TABLE accounts.throttles IS 'Failed logins and wrong codes by account and by client address, from which the wait before the next attempt follows. A success or a quiet time removes a row.';
COMMENT ON COLUMN accounts.throttles.subject_mac IS 'HMAC-SHA-256 of scope and subject: neither addresses nor mistyped logins are kept.';
COMMENT ON COLUMN accounts.throttles.failures IS 'In a row, without a quiet time between them.';
CREATE INDEX throttles_by_age ON accounts.throttles (failed_at);

CREATE TABLE accounts.quotas (
    subject_mac  bytea NOT NULL,
    window_start timestamptz NOT NULL,
    used         integer NOT NULL,
    CONSTRAINT quotas_one_per_window PRIMARY KEY (subject_mac, window_start),
    CONSTRAINT quotas_used_positive CHECK (used > 0)
);
COMMENT ON TABLE accounts.quotas IS 'What was used of a bounded number a window of time: code mails a day and recipient, questions to gateways a minute. Old windows are swept.';
COMMENT ON COLUMN accounts.quotas.subject_mac IS 'HMAC-SHA-256 of the kind and whom it concerns.';
CREATE INDEX quotas_by_age ON accounts.quotas (window_start);

-- +goose Down
DROP TABLE accounts.quotas;
DROP TABLE accounts.throttles;
