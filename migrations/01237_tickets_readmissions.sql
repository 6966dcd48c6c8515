-- +goose Up
CREATE TABLE tickets.readmissions (
    id bigint GENERATED ALWAYS AS IDENTITY,
    ticket_id platform.object_id NOT NULL,
    at timestamptz NOT NULL,
    consumed_at timestamptz NOT NULL,
    nonce text COLLATE "C",
    reason text COLLATE "C",
    actor_id platform.object_id,
    CONSTRAINT readmissions_pkey PRIMARY KEY (ticket_id, id),
    CONSTRAINT readmissions_of_ticket FOREIGN KEY (ticket_id) REFERENCES tickets.tickets (id) ON DELETE CASCADE,
    CONSTRAINT readmissions_nonce_length CHECK (char_length(nonce) BETWEEN 1 AND 100),
    CONSTRAINT readmissions_reason_length CHECK (char_length(reason) BETWEEN 3 AND 500),
    CONSTRAINT readmissions_after_scan CHECK (at >= consumed_at)
);
COMMENT ON TABLE tickets.readmissions IS 'Scans that were undone: the ticket is good again, the scan is not, however often its device repeats it.';
COMMENT ON COLUMN tickets.readmissions.consumed_at IS 'Of the scan that was undone, as nonce is; null where its device sent none.';
COMMENT ON COLUMN tickets.readmissions.reason IS 'In the words of whoever undid it; null once its customer is deleted.';

-- +goose Down
DROP TABLE tickets.readmissions;
