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
CREATE OR REPLACE FUNCTION catalog.advance_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE catalog.version SET number = number + 1, changed_in = pg_current_xact_id()
    WHERE changed_in IS DISTINCT FROM pg_current_xact_id();
    RETURN NULL;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION catalog.advance_version() IS
    'Runs before each writing statement, whoever sends it. The row lock it takes lets one transaction at a time write to the catalogue, so computed names and checks of what is in use cannot race.';

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
COMMENT ON COLUMN catalog.seasons.number IS 'Place among the seasons of a series.';

CREATE TRIGGER seasons_version BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON catalog.seasons
    FOR EACH STATEMENT EXECUTE FUNCTION catalog.advance_version();

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
    search                         tsvector GENERATED ALWAYS AS (
        platform.search_vector(ARRAY[title], 'A')
        || platform.search_vector(ARRAY[author, season_name] || category_name || tags_name || tags, 'B')
        || platform.search_vector(ARRAY[description], 'C')
    ) STORED,
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
COMMENT ON COLUMN catalog.videos.search IS 'What GET /search/videos finds a video by: title before author, groups and tags, these before the description.';
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
CREATE INDEX videos_search ON catalog.videos USING gin (search);

-- A trusted extension: whoever may create schemas in the database may create it.
-- It comes with Debian's postgresql, the embedded builds and every hosted Postgres.
CREATE EXTENSION IF NOT EXISTS pg_trgm;

CREATE INDEX videos_title_pattern ON catalog.videos USING gin (title gin_trgm_ops);
COMMENT ON INDEX catalog.videos_title_pattern IS 'For filters by regular expression.';
CREATE INDEX videos_author_pattern ON catalog.videos USING gin (author gin_trgm_ops);
COMMENT ON INDEX catalog.videos_author_pattern IS 'For filters by regular expression.';
CREATE INDEX videos_disabled_by_update ON catalog.videos (register_update_date DESC, id) WHERE NOT enable;
CREATE INDEX videos_category_name ON catalog.videos USING gin (category_name);
CREATE INDEX videos_tags_name ON catalog.videos USING gin (tags_name);

-- Whether a file is some video's thumbnail is asked whenever a file of a video is opened.
CREATE INDEX videos_thumbnails ON catalog.videos USING gin ((ARRAY[
    thumbnail_horizontal::text, thumbnail_horizontal_name_less::text, thumbnail_vertical::text, thumbnail_vertical_name_less::text
]));
COMMENT ON INDEX catalog.videos_thumbnails IS 'By file id: the videos that show it. Thumbnails open to every signed-in user, other files of videos to those who may watch.';

-- A file that some video names as its film is no thumbnail, whatever video shows it as one:
-- that is asked beside the thumbnails.
CREATE INDEX videos_film ON catalog.videos (video_gridfs_id) WHERE video_gridfs_id IS NOT NULL;

CREATE TRIGGER videos_version BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON catalog.videos
    FOR EACH STATEMENT EXECUTE FUNCTION catalog.advance_version();

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION catalog.fill_video_names() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.category_name := coalesce((
        SELECT array_agg(c.name ORDER BY given.place)
        FROM unnest(NEW.category_id) WITH ORDINALITY given(id, place) JOIN catalog.categories c ON c.id = given.id), '{}');
    IF cardinality(NEW.category_name) <> cardinality(NEW.category_id) THEN
        RAISE foreign_key_violation USING MESSAGE = 'unknown category', CONSTRAINT = 'videos_category_id_known';
    END IF;
    NEW.tags_name := coalesce((
        SELECT array_agg(g.name ORDER BY given.place)
        FROM unnest(NEW.tags_id) WITH ORDINALITY given(id, place) JOIN catalog.tags g ON g.id = given.id), '{}');
    IF cardinality(NEW.tags_name) <> cardinality(NEW.tags_id) THEN
        RAISE foreign_key_violation USING MESSAGE = 'unknown tag', CONSTRAINT = 'videos_tags_id_known';
    END IF;
    NEW.season_name := (SELECT s.name FROM catalog.seasons s WHERE s.id = NEW.season_id);
    RETURN NEW;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION catalog.fill_video_names() IS 'Computes the names of a video''s categories, tags and season, and refuses unknown ids.';
CREATE TRIGGER videos_names BEFORE INSERT OR UPDATE OF category_id, category_name, tags_id, tags_name, season_id, season_name ON catalog.videos
    FOR EACH ROW EXECUTE FUNCTION catalog.fill_video_names();

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION catalog.rename_in_videos() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- Setting a column to itself makes fill_video_names run.
    IF TG_TABLE_NAME = 'categories' THEN
        UPDATE catalog.videos SET category_id = category_id WHERE category_id @> ARRAY[NEW.id::text];
    ELSIF TG_TABLE_NAME = 'tags' THEN
        UPDATE catalog.videos SET tags_id = tags_id WHERE tags_id @> ARRAY[NEW.id::text];
    ELSE
        UPDATE catalog.videos SET season_id = season_id WHERE season_id = NEW.id;
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION catalog.rename_in_videos() IS 'Carries a new name to the videos that show it. Their register_update_date stays: nobody edited them.';
CREATE TRIGGER categories_rename AFTER UPDATE OF name ON catalog.categories
    FOR EACH ROW WHEN (OLD.name IS DISTINCT FROM NEW.name) EXECUTE FUNCTION catalog.rename_in_videos();
CREATE TRIGGER tags_rename AFTER UPDATE OF name ON catalog.tags
    FOR EACH ROW WHEN (OLD.name IS DISTINCT FROM NEW.name) EXECUTE FUNCTION catalog.rename_in_videos();
CREATE TRIGGER seasons_rename AFTER UPDATE OF name ON catalog.seasons
    FOR EACH ROW WHEN (OLD.name IS DISTINCT FROM NEW.name) EXECUTE FUNCTION catalog.rename_in_videos();

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION catalog.refuse_while_used() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE used boolean;
BEGIN
    IF TG_TABLE_NAME = 'categories' THEN
        used := EXISTS (SELECT 1 FROM catalog.videos WHERE category_id @> ARRAY[OLD.id::text]);
    ELSE
        used := EXISTS (SELECT 1 FROM catalog.videos WHERE tags_id @> ARRAY[OLD.id::text]);
    END IF;
    IF used THEN
        RAISE foreign_key_violation USING MESSAGE = TG_TABLE_NAME || ' still in use', CONSTRAINT = TG_TABLE_NAME || '_in_use';
    END IF;
    RETURN OLD;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION catalog.refuse_while_used() IS 'What a foreign key would do, for id lists: no category or tag goes while a video names it.';
CREATE TRIGGER categories_in_use BEFORE DELETE ON catalog.categories FOR EACH ROW EXECUTE FUNCTION catalog.refuse_while_used();
CREATE TRIGGER tags_in_use BEFORE DELETE ON catalog.tags FOR EACH ROW EXECUTE FUNCTION catalog.refuse_while_used();

CREATE TABLE catalog.watch_history (
    user_id    platform.object_id NOT NULL,
    video_id   platform.object_id NOT NULL,
    timeline   double precision NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (user_id, video_id),
    CONSTRAINT watch_history_video_known FOREIGN KEY (video_id) REFERENCES catalog.videos (id) ON DELETE CASCADE,
    CONSTRAINT watch_history_timeline_finite CHECK (timeline >= 0 AND timeline < 'Infinity')
);
COMMENT ON TABLE catalog.watch_history IS 'How far each user has watched each video.';
COMMENT ON COLUMN catalog.watch_history.user_id IS 'A customer or an admin; rows of a deleted customer are erased with his personal data.';
COMMENT ON COLUMN catalog.watch_history.timeline IS 'Seconds from the start. NaN counts as greater than Infinity and is refused with it.';
CREATE INDEX watch_history_newest ON catalog.watch_history (user_id, updated_at DESC, video_id);
CREATE INDEX watch_history_by_video ON catalog.watch_history (video_id);

-- +goose Down
-- The extension stays: it may have been there before.
DROP SCHEMA catalog CASCADE;
