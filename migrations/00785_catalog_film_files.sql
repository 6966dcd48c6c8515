-- +goose Up
-- A file that some video names as its film is no thumbnail, whatever video shows it as one:
-- that is asked beside the thumbnails.
CREATE INDEX videos_film ON catalog.videos (video_gridfs_id) WHERE video_gridfs_id IS NOT NULL;

-- +goose Down
DROP INDEX catalog.videos_film;
