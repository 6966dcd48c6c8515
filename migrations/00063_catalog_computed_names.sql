-- +goose Up
-- +goose StatementBegin
CREATE FUNCTION catalog.fill_video_names() RETURNS trigger LANGUAGE plpgsql AS $$
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
CREATE FUNCTION catalog.rename_in_videos() RETURNS trigger LANGUAGE plpgsql AS $$
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
CREATE FUNCTION catalog.refuse_while_used() RETURNS trigger LANGUAGE plpgsql AS $$
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

-- +goose Down
DROP TRIGGER tags_in_use ON catalog.tags;
DROP TRIGGER categories_in_use ON catalog.categories;
DROP FUNCTION catalog.refuse_while_used();
DROP TRIGGER seasons_rename ON catalog.seasons;
DROP TRIGGER tags_rename ON catalog.tags;
DROP TRIGGER categories_rename ON catalog.categories;
DROP FUNCTION catalog.rename_in_videos();
DROP TRIGGER videos_names ON catalog.videos;
DROP FUNCTION catalog.fill_video_names();
