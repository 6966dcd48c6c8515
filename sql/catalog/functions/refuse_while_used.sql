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
COMMENT ON FUNCTION catalog.refuse_while_used() IS 'What a foreign key would do, for id lists: no category or tag goes while a video names it.';
