-- River's own migration 3 (river_job_tags_non_null), on schema jobs.
-- +goose Up
-- +goose StatementBegin
ALTER TABLE jobs.river_job ALTER COLUMN tags SET DEFAULT '{}';
UPDATE jobs.river_job SET tags = '{}' WHERE tags IS NULL;
ALTER TABLE jobs.river_job ALTER COLUMN tags SET NOT NULL;

-- +goose StatementEnd

-- +goose Down
-- +goose StatementBegin
ALTER TABLE jobs.river_job
    ALTER COLUMN tags DROP NOT NULL,
    ALTER COLUMN tags DROP DEFAULT;

-- +goose StatementEnd
