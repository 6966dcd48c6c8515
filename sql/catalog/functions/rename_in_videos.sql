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
COMMENT ON FUNCTION catalog.rename_in_videos() IS 'Carries a new name to the videos that show it. Their register_update_date stays: nobody edited them.';
