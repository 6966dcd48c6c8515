-- +goose Up
COMMENT ON SCHEMA jobs IS 'River''s tables, written by River alone but for jobs of dead workers, and jobs.workers.';

CREATE TABLE jobs.workers (
    id      text PRIMARY KEY,
    seen_at timestamptz NOT NULL
);
COMMENT ON TABLE jobs.workers IS 'Processes that work jobs, by River''s id of their client. A job that runs in one which has fallen silent is started again by another. Ours, not River''s.';
COMMENT ON COLUMN jobs.workers.seen_at IS 'When the process said last that it lives: every 3 seconds, by the database''s clock. After 15 seconds of silence it counts as dead.';

-- +goose Down
COMMENT ON SCHEMA jobs IS 'River''s tables. Written by River alone.';
DROP TABLE jobs.workers;
