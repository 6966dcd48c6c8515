-- +goose Up
-- Whether a file is some video's thumbnail is asked whenever a file of a video is opened.
CREATE INDEX videos_thumbnails ON catalog.videos USING gin ((ARRAY[
    thumbnail_horizontal::text, thumbnail_horizontal_name_less::text, thumbnail_vertical::text, thumbnail_vertical_name_less::text
]));
COMMENT ON INDEX catalog.videos_thumbnails IS 'By file id: the videos that show it. Thumbnails open to every signed-in user, other files of videos to those who may watch.';

-- +goose Down
DROP INDEX catalog.videos_thumbnails;
