CREATE OR REPLACE FUNCTION platform.search_query(words text) RETURNS tsquery
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT plainto_tsquery('pg_catalog.portuguese', platform.search_stems(q.parts[1]))
        && (plainto_tsquery('pg_catalog.portuguese', platform.search_stems(q.parts[2]))
            || to_tsquery('pg_catalog.simple', '''' || q.parts[2] || ''':*'))
    FROM (SELECT regexp_match(platform.search_words(words), '^(.*?)(\S+)\s*$')) q(parts)
$$;
COMMENT ON FUNCTION platform.search_query(text) IS
    'The query that search_vector answers: every word by its stem, the last one also as a prefix. Null, which nothing matches, when there is no word.';
