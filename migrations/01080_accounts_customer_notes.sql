-- +goose Up
CREATE TABLE accounts.customer_notes (
    id                     platform.object_id PRIMARY KEY,
    customer_id            platform.object_id NOT NULL,
    text                   text COLLATE "C" NOT NULL,
    pinned                 boolean NOT NULL,
    document_created_by_id platform.object_id,
    register_date          timestamptz NOT NULL,
    register_update_date   timestamptz NOT NULL,
    CONSTRAINT customer_notes_customer_exists FOREIGN KEY (customer_id) REFERENCES accounts.users (id) ON DELETE CASCADE,
    CONSTRAINT customer_notes_text_length CHECK (length(text) BETWEEN 1 AND 4000)
);
COMMENT ON TABLE accounts.customer_notes IS 'What staff write down about a customer. No route shows it to them; the export of their data holds it, and it goes with their account.';
CREATE INDEX customer_notes_by_customer ON accounts.customer_notes (customer_id, pinned, register_date);

ALTER TABLE accounts.users ADD COLUMN labels text[] COLLATE "C" NOT NULL DEFAULT '{}',
    ADD CONSTRAINT users_labels_few CHECK (cardinality(labels) <= 20) NOT VALID;
ALTER TABLE accounts.users VALIDATE CONSTRAINT users_labels_few;
COMMENT ON COLUMN accounts.users.labels IS 'Words by which staff sort customers; as notes, in the export alone.';

-- +goose Down
ALTER TABLE accounts.users DROP COLUMN labels;
DROP TABLE accounts.customer_notes;
