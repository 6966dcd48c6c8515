-- +goose Up
-- +goose StatementBegin
CREATE FUNCTION platform.search_words(words text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURNS NULL ON NULL INPUT AS $$
    SELECT regexp_replace(lower(regexp_replace(normalize(words COLLATE "C", NFD), U&'[\0300-\036F]+', '', 'g')), '[!-/:-@[-`{-~]+', ' ', 'g')
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION platform.search_words(text) IS
    'Words as the full text search compares them: without accents, lower case, ASCII punctuation as blanks. In no need of the extension unaccent, and the same under every locale.';

-- +goose StatementBegin
CREATE FUNCTION platform.search_stems(words text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURNS NULL ON NULL INPUT AS $$
    SELECT regexp_replace(regexp_replace(words, 'c(ao|oes)\M', 'ção', 'g'), '([a-z])(ao|oes)\M', '\1ão', 'g')
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION platform.search_stems(text) IS
    'Gives the words of search_words back the endings that the Portuguese stemmer knows by their accents, and makes their plural singular: cancoes and cancao become canção.';

-- +goose StatementBegin
CREATE FUNCTION platform.search_vector(texts text[], weight "char") RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE words text := platform.search_words(array_to_string(texts, ' '));
BEGIN
    RETURN setweight(to_tsvector('pg_catalog.simple', words) || to_tsvector('pg_catalog.portuguese', platform.search_stems(words)), weight);
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION platform.search_vector(text[], "char") IS
    'What a record is found by: the words of its texts as they are, for prefixes, and their stems. Nulls are left out. Weight A counts most, D least; concatenate one vector a weight and index it with GIN.';

-- +goose StatementBegin
CREATE FUNCTION platform.search_query(words text) RETURNS tsquery
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT plainto_tsquery('pg_catalog.portuguese', platform.search_stems(q.parts[1]))
        && (plainto_tsquery('pg_catalog.portuguese', platform.search_stems(q.parts[2]))
            || to_tsquery('pg_catalog.simple', '''' || q.parts[2] || ''':*'))
    FROM (SELECT regexp_match(platform.search_words(words), '^(.*?)(\S+)\s*$')) q(parts)
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION platform.search_query(text) IS
    'The query that search_vector answers: every word by its stem, the last one also as a prefix. Null, which nothing matches, when there is no word.';

-- +goose Down
DROP FUNCTION platform.search_query(text);
DROP FUNCTION platform.search_vector(text[], "char");
DROP FUNCTION platform.search_stems(text);
DROP FUNCTION platform.search_words(text);
