-- River's own migration 8 (job_id_autoincrement), on schema jobs.
-- +goose Up
-- +goose StatementBegin
-- No-op. Postgres sequences already prevent automatically generated job IDs
-- from being reused.
SELECT 1;

-- +goose StatementEnd

-- +goose Down
-- +goose StatementBegin
-- No-op. Postgres sequences already prevent automatically generated job IDs
-- from being reused.
SELECT 1;

-- +goose StatementEnd
