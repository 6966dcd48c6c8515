-- +goose Up
CREATE TABLE catalog.categories (
    id                     platform.object_id PRIMARY KEY DEFAULT platform.new_object_id(),
    name                   text COLLATE "C" NOT NULL,
    slug                   text COLLATE "C" NOT NULL,
    document_created_by_id platform.object_id,
    register_date          timestamptz NOT NULL DEFAULT date_trunc('milliseconds', now()),
    register_update_date   timestamptz NOT NULL DEFAULT date_trunc('milliseconds', now()),
    CONSTRAINT categories_slug_unique UNIQUE (slug),
    CONSTRAINT categories_name_length CHECK (char_length(name) BETWEEN 1 AND 100),
    CONSTRAINT categories_slug_form CHECK (slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$')
);
CREATE TRIGGER categories_version BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON catalog.categories
    FOR EACH STATEMENT EXECUTE FUNCTION catalog.advance_version();

CREATE TABLE catalog.tags (
    id                     platform.object_id PRIMARY KEY DEFAULT platform.new_object_id(),
    name                   text COLLATE "C" NOT NULL,
    slug                   text COLLATE "C" NOT NULL,
    document_created_by_id platform.object_id,
    register_date          timestamptz NOT NULL DEFAULT date_trunc('milliseconds', now()),
    register_update_date   timestamptz NOT NULL DEFAULT date_trunc('milliseconds', now()),
    CONSTRAINT tags_slug_unique UNIQUE (slug),
    CONSTRAINT tags_name_length CHECK (char_length(name) BETWEEN 1 AND 100),
    CONSTRAINT tags_slug_form CHECK (slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$')
);
CREATE TRIGGER tags_version BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON catalog.tags
    FOR EACH STATEMENT EXECUTE FUNCTION catalog.advance_version();

CREATE TABLE catalog.seasons (
    id                     platform.object_id PRIMARY KEY DEFAULT platform.new_object_id(),
    name                   text COLLATE "C" NOT NULL,
    slug                   text COLLATE "C" NOT NULL,
    number                 integer,
    description            text COLLATE "C",
    document_created_by_id platform.object_id,
    register_date          timestamptz NOT NULL DEFAULT date_trunc('milliseconds', now()),
    register_update_date   timestamptz NOT NULL DEFAULT date_trunc('milliseconds', now()),
    CONSTRAINT seasons_slug_unique UNIQUE (slug),
    CONSTRAINT seasons_name_length CHECK (char_length(name) BETWEEN 1 AND 100),
    CONSTRAINT seasons_slug_form CHECK (slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$')
);
CREATE TRIGGER seasons_version BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON catalog.seasons
    FOR EACH STATEMENT EXECUTE FUNCTION catalog.advance_version();

COMMENT ON COLUMN catalog.seasons.number IS 'Place among the seasons of a series.';

-- +goose Down
DROP TABLE catalog.seasons;
DROP TABLE catalog.tags;
DROP TABLE catalog.categories;
