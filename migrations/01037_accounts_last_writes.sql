-- +goose Up
CREATE UNLOGGED TABLE accounts.last_writes (
    user_id platform.object_id CONSTRAINT last_writes_pkey PRIMARY KEY,
    at timestamptz NOT NULL
) WITH (fillfactor = 70);
COMMENT ON TABLE accounts.last_writes IS 'Who called a route that writes within the last hour, where there are replicas: what they list is not older. Not logged, since only the primary is asked, and a crash may forget it.';
COMMENT ON COLUMN accounts.last_writes.at IS 'When such a request last began, by the clock of the database''s machine; noted again while one takes long.';

-- +goose Down
DROP TABLE accounts.last_writes;
