CREATE OR REPLACE FUNCTION platform.search_stems(words text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURNS NULL ON NULL INPUT AS $$
    SELECT regexp_replace(regexp_replace(words, 'c(ao|oes)\M', 'ção', 'g'), '([a-z])(ao|oes)\M', '\1ão', 'g')
$$;
COMMENT ON FUNCTION platform.search_stems(text) IS
    'Gives the words of search_words back the endings that the Portuguese stemmer knows by their accents, and makes their plural singular: cancoes and cancao become canção.';
