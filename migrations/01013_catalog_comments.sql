-- +goose Up
COMMENT ON COLUMN catalog.watch_history.user_id IS 'A customer or an admin; rows of a deleted customer are erased with their personal data.';

-- +goose Down
COMMENT ON COLUMN catalog.watch_history.user_id IS 'A customer or an admin; rows of a deleted customer are erased with his personal data.';
