-- +goose Up
COMMENT ON COLUMN accounts.deletions.deleted_by IS 'The customer or an admin; null for the job that removes unverified accounts.';
COMMENT ON COLUMN accounts.deletions.erased_at IS 'When their personal data were removed; null while a gateway still has to confirm.';
COMMENT ON TABLE accounts.users IS 'Admins and customers. A deleted user stays as a tombstone, since money records point to it.';

-- +goose Down
COMMENT ON COLUMN accounts.deletions.deleted_by IS 'The customer himself or an admin; null for the job that removes unverified accounts.';
COMMENT ON COLUMN accounts.deletions.erased_at IS 'When his personal data were removed; null while a gateway still has to confirm.';
COMMENT ON TABLE accounts.users IS 'Admins and customers. A deleted user stays as a tombstone, since money records point to him.';
