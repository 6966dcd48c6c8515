-- +goose Up
CREATE SCHEMA catalog;
COMMENT ON SCHEMA catalog IS 'Videos with their categories, tags and seasons.';

CREATE TABLE catalog.version (
    only_row   boolean PRIMARY KEY DEFAULT true CONSTRAINT version_one_row CHECK (only_row),
    number     bigint NOT NULL,
    changed_in xid8
);
COMMENT ON TABLE catalog.version IS 'One row whose number grows with every transaction that writes to the catalogue. Answers kept in memory are keyed by it.';
COMMENT ON COLUMN catalog.version.changed_in IS 'The transaction that made this number, so that one transaction counts once.';
INSERT INTO catalog.version (number) VALUES (1);

-- +goose StatementBegin
CREATE FUNCTION catalog.advance_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE catalog.version SET number = number + 1, changed_in = pg_current_xact_id()
    WHERE changed_in IS DISTINCT FROM pg_current_xact_id();
    RETURN NULL;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION catalog.advance_version() IS
    'Runs before each writing statement, whoever sends it. The row lock it takes lets one transaction at a time write to the catalogue, so computed names and checks of what is in use cannot race.';

-- +goose Down
DROP FUNCTION catalog.advance_version();
DROP TABLE catalog.version;
DROP SCHEMA catalog;
