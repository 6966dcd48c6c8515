-- +goose Up
CREATE TABLE catalog.videos (
    id                             platform.object_id PRIMARY KEY DEFAULT platform.new_object_id(),
    title                          text COLLATE "C" NOT NULL,
    slug                           text COLLATE "C" NOT NULL,
    video_id                       text COLLATE "C" NOT NULL,
    description                    text COLLATE "C" NOT NULL DEFAULT '',
    author                         text COLLATE "C" NOT NULL DEFAULT '',
    duration                       integer NOT NULL,
    release_date                   timestamptz NOT NULL,
    expiration_date                timestamptz,
    category_id                    text[] COLLATE "C" NOT NULL DEFAULT '{}',
    category_name                  text[] COLLATE "C" NOT NULL DEFAULT '{}',
    tags_id                        text[] COLLATE "C" NOT NULL DEFAULT '{}',
    tags_name                      text[] COLLATE "C" NOT NULL DEFAULT '{}',
    tags                           text[] COLLATE "C" NOT NULL DEFAULT '{}',
    season_id                      platform.object_id,
    season_name                    text COLLATE "C",
    season_number                  integer,
    episode_number                 integer,
    thumbnail_horizontal           platform.object_id,
    thumbnail_horizontal_name_less platform.object_id,
    thumbnail_vertical             platform.object_id,
    thumbnail_vertical_name_less   platform.object_id,
    enable                         boolean NOT NULL DEFAULT true,
    main_highlight                 boolean NOT NULL DEFAULT false,
    section_highlight              boolean NOT NULL DEFAULT false,
    is_show_in_slide_carousel      boolean NOT NULL DEFAULT false,
    video_gridfs_id                platform.object_id,
    legacy_id                      text COLLATE "C",
    document_created_by_id         platform.object_id,
    register_date                  timestamptz NOT NULL DEFAULT date_trunc('milliseconds', now()),
    register_update_date           timestamptz NOT NULL DEFAULT date_trunc('milliseconds', now()),
    CONSTRAINT videos_slug_unique UNIQUE (slug),
    CONSTRAINT videos_season_id_known FOREIGN KEY (season_id) REFERENCES catalog.seasons (id),
    CONSTRAINT videos_title_length CHECK (char_length(title) BETWEEN 1 AND 200),
    CONSTRAINT videos_slug_form CHECK (slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$'),
    CONSTRAINT videos_duration_not_negative CHECK (duration >= 0),
    CONSTRAINT videos_episode_number_positive CHECK (episode_number >= 1)
);
COMMENT ON TABLE catalog.videos IS 'The catalogue. Thumbnails are ids of stored files, which outlive the video until they are deleted on their own.';
COMMENT ON COLUMN catalog.videos.video_id IS 'Address of the video at its external host; no id of ours.';
COMMENT ON COLUMN catalog.videos.duration IS 'Minutes.';
COMMENT ON COLUMN catalog.videos.category_id IS 'Ids of catalog.categories, in the order given; a trigger holds them to existing ones.';
COMMENT ON COLUMN catalog.videos.category_name IS 'Names of category_id in its order, kept by a trigger so that filters on them need no join.';
COMMENT ON COLUMN catalog.videos.tags_id IS 'Ids of catalog.tags.';
COMMENT ON COLUMN catalog.videos.tags_name IS 'Names of tags_id, kept by a trigger.';
COMMENT ON COLUMN catalog.videos.tags IS 'Free words; nothing to do with catalog.tags.';
COMMENT ON COLUMN catalog.videos.season_name IS 'Name of season_id, kept by a trigger.';
COMMENT ON COLUMN catalog.videos.enable IS 'Published.';
COMMENT ON COLUMN catalog.videos.video_gridfs_id IS 'Storage id in the system that the video was imported from.';
COMMENT ON COLUMN catalog.videos.legacy_id IS 'Id in an older system.';

CREATE INDEX videos_by_update ON catalog.videos (register_update_date DESC, id);
CREATE INDEX videos_by_release ON catalog.videos (release_date DESC, id);
CREATE INDEX videos_enabled_by_release ON catalog.videos (release_date DESC, id) WHERE enable;
CREATE INDEX videos_enabled_by_update ON catalog.videos (register_update_date DESC, id) WHERE enable;
CREATE INDEX videos_duration ON catalog.videos (duration, id);
CREATE INDEX videos_author ON catalog.videos (author, id);
CREATE INDEX videos_title ON catalog.videos (title, id);
CREATE INDEX videos_season ON catalog.videos (season_id) WHERE season_id IS NOT NULL;
CREATE INDEX videos_tags ON catalog.videos USING gin (tags);
CREATE INDEX videos_category_id ON catalog.videos USING gin (category_id);
CREATE INDEX videos_tags_id ON catalog.videos USING gin (tags_id);

CREATE TRIGGER videos_version BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON catalog.videos
    FOR EACH STATEMENT EXECUTE FUNCTION catalog.advance_version();

-- +goose Down
DROP TABLE catalog.videos;
