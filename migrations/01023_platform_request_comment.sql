-- +goose Up
COMMENT ON COLUMN platform.idempotency_keys.subject_id IS 'The order or subscription that stands for the request, set in the transaction that wrote it: a repetition never makes a second one while this one lives.';

-- +goose Down
COMMENT ON COLUMN platform.idempotency_keys.subject_id IS 'The order or subscription that stands for the wish, set in the transaction that wrote it: a repetition never makes a second one while this one lives.';
