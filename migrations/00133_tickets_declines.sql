-- +goose Up
CREATE TABLE tickets.declines (
    id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    subject text COLLATE "C" NOT NULL,
    mac     bytea NOT NULL,
    at      timestamptz NOT NULL,
    CONSTRAINT declines_subject_known CHECK (subject IN ('address', 'card', 'buyer'))
);
COMMENT ON TABLE tickets.declines IS 'Declined card payments, counted against card testing. Old rows are swept.';
COMMENT ON COLUMN tickets.declines.mac IS 'HMAC-SHA-256 of the client address, the card number or token, or the buyer''s e-mail, under a server key: none of them stands here.';
CREATE INDEX declines_by_subject ON tickets.declines (subject, mac, at);
CREATE INDEX declines_by_age ON tickets.declines (at);

-- +goose Down
DROP TABLE tickets.declines;
