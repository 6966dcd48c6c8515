-- +goose Up
CREATE TABLE accounts.deletions (
    customer_id platform.object_id PRIMARY KEY,
    deleted_by  platform.object_id,
    deleted_at  timestamptz NOT NULL,
    erased_at   timestamptz,
    CONSTRAINT deletions_customer_exists FOREIGN KEY (customer_id) REFERENCES accounts.users (id)
);
COMMENT ON TABLE accounts.deletions IS 'Customers who were deleted: closed at once, erased when the gateways have confirmed that nothing is charged any more.';
COMMENT ON COLUMN accounts.deletions.deleted_by IS 'The customer himself or an admin; null for the job that removes unverified accounts.';
COMMENT ON COLUMN accounts.deletions.erased_at IS 'When his personal data were removed; null while a gateway still has to confirm.';
CREATE INDEX deletions_under_way ON accounts.deletions (deleted_at) WHERE erased_at IS NULL;

-- +goose Down
DROP TABLE accounts.deletions;
