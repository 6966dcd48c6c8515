-- +goose Up
CREATE TABLE platform.breaking_migrations (
    version bigint PRIMARY KEY,
    needs   bigint NOT NULL CONSTRAINT breaking_migrations_need_earlier CHECK (needs <= version)
);
COMMENT ON TABLE platform.breaking_migrations IS 'Migrations with which older programs do not run: the lines "-- breaks: <version>" of those that this database has. Written by the migrations themselves, so that a program which does not know the file can read it.';
COMMENT ON COLUMN platform.breaking_migrations.needs IS 'The migration that a program has to know at least. One that knows only earlier ones refuses to start.';
COMMENT ON SCHEMA platform IS 'What every module shares: the id domain, small functions, and tables that belong to no module.';

-- +goose Down
COMMENT ON SCHEMA platform IS 'What every module shares: the id domain and small functions. No tables.';
DROP TABLE platform.breaking_migrations;
