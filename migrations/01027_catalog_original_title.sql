-- +goose Up
ALTER TABLE catalog.videos
    ADD COLUMN original_title text COLLATE "C"
        CONSTRAINT videos_original_title_bounded CHECK (char_length(original_title) <= 200);
COMMENT ON COLUMN catalog.videos.original_title IS 'Title in the language in which it was made; null where title is that already.';

-- +goose Down
ALTER TABLE catalog.videos DROP COLUMN original_title;
