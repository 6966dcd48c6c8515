-- +goose Up
ALTER TABLE catalog.videos ADD COLUMN search tsvector GENERATED ALWAYS AS (
    platform.search_vector(ARRAY[title], 'A')
    || platform.search_vector(ARRAY[author, season_name] || category_name || tags_name || tags, 'B')
    || platform.search_vector(ARRAY[description], 'C')
) STORED;
COMMENT ON COLUMN catalog.videos.search IS 'What GET /search/videos finds a video by: title before author, groups and tags, these before the description.';

CREATE INDEX videos_search ON catalog.videos USING gin (search);

-- +goose Down
ALTER TABLE catalog.videos DROP COLUMN search;
