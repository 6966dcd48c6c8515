CREATE OR REPLACE FUNCTION platform.search_words(words text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURNS NULL ON NULL INPUT AS $$
    SELECT regexp_replace(lower(regexp_replace(normalize(words COLLATE "C", NFD), U&'[\0300-\036F]+', '', 'g')), '[!-/:-@[-`{-~]+', ' ', 'g')
$$;
COMMENT ON FUNCTION platform.search_words(text) IS
    'Words as the full text search compares them: without accents, lower case, ASCII punctuation as blanks. In no need of the extension unaccent, and the same under every locale.';
