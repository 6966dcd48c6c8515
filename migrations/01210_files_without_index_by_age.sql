-- +goose Up

-- Nothing asks for files by their age alone: the daily job reads those of one kind by their ids, and nearly all are older
-- than it asks for.
DROP INDEX files.files_by_age;

-- +goose Down

CREATE INDEX files_by_age ON files.files (created_at);
