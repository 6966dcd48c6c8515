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
COMMENT ON FUNCTION catalog.fill_video_names() IS 'Computes the names of a video''s categories, tags and season, and refuses unknown ids.';
