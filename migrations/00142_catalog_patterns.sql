-- +goose Up
-- A trusted extension: whoever may create schemas in the database may create it.
-- It comes with Debian's postgresql, the embedded builds and every hosted Postgres.
CREATE EXTENSION IF NOT EXISTS pg_trgm;

CREATE INDEX videos_title_pattern ON catalog.videos USING gin (title gin_trgm_ops);
COMMENT ON INDEX catalog.videos_title_pattern IS 'For filters by regular expression.';
CREATE INDEX videos_author_pattern ON catalog.videos USING gin (author gin_trgm_ops);
COMMENT ON INDEX catalog.videos_author_pattern IS 'For filters by regular expression.';

-- +goose Down
-- The extension stays: it may have been there before.
DROP INDEX catalog.videos_author_pattern;
DROP INDEX catalog.videos_title_pattern;
