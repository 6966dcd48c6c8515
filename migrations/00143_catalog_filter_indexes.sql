-- +goose Up
CREATE INDEX videos_disabled_by_update ON catalog.videos (register_update_date DESC, id) WHERE NOT enable;
CREATE INDEX videos_category_name ON catalog.videos USING gin (category_name);
CREATE INDEX videos_tags_name ON catalog.videos USING gin (tags_name);

-- +goose Down
DROP INDEX catalog.videos_tags_name;
DROP INDEX catalog.videos_category_name;
DROP INDEX catalog.videos_disabled_by_update;
