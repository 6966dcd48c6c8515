CREATE OR REPLACE FUNCTION platform.search_vector(texts text[], weight "char") RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE words text := platform.search_words(array_to_string(texts, ' '));
BEGIN
    RETURN setweight(to_tsvector('pg_catalog.simple', words) || to_tsvector('pg_catalog.portuguese', platform.search_stems(words)), weight);
END
$$;
COMMENT ON FUNCTION platform.search_vector(text[], "char") IS
    'What a record is found by: the words of its texts as they are, for prefixes, and their stems. Nulls are left out. Weight A counts most, D least; concatenate one vector a weight and index it with GIN.';
