-- +goose Up
CREATE SCHEMA platform;
COMMENT ON SCHEMA platform IS 'What every module shares: the id domain, small functions, and tables that belong to no module.';

CREATE DOMAIN platform.object_id AS text COLLATE "C"
    CONSTRAINT object_id_form CHECK (VALUE ~ '^[0-9a-f]{24}$');
COMMENT ON DOMAIN platform.object_id IS '24 lower-case hex digits: 4 bytes of unix seconds, 5 random bytes, 3 bytes of a counter.';

CREATE SEQUENCE platform.object_id_counter AS integer MINVALUE 0 MAXVALUE 16777215 START 0 CYCLE;

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION platform.new_object_id() RETURNS platform.object_id
LANGUAGE sql VOLATILE AS $$
    SELECT (lpad(to_hex(extract(epoch FROM clock_timestamp())::bigint), 8, '0')
         || substr(md5(random()::text || clock_timestamp()::text), 1, 10)
         || lpad(to_hex(nextval('platform.object_id_counter')), 6, '0'))::platform.object_id
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION platform.new_object_id() IS 'An id for people who insert rows by hand; the server makes its own.';

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION platform.json_time(t timestamptz) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT to_char(t AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION platform.json_time(timestamptz) IS 'The form in which the API shows instants: RFC 3339 UTC with milliseconds and Z.';

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION platform.search_words(words text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURNS NULL ON NULL INPUT AS $$
    SELECT regexp_replace(lower(regexp_replace(normalize(words COLLATE "C", NFD), U&'[\0300-\036F]+', '', 'g')), '[!-/:-@[-`{-~]+', ' ', 'g')
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION platform.search_words(text) IS
    'Words as the full text search compares them: without accents, lower case, ASCII punctuation as blanks. In no need of the extension unaccent, and the same under every locale.';

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION platform.search_stems(words text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURNS NULL ON NULL INPUT AS $$
    SELECT regexp_replace(regexp_replace(words, 'c(ao|oes)\M', 'ção', 'g'), '([a-z])(ao|oes)\M', '\1ão', 'g')
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION platform.search_stems(text) IS
    'Gives the words of search_words back the endings that the Portuguese stemmer knows by their accents, and makes their plural singular: cancoes and cancao become canção.';

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION platform.search_vector(texts text[], weight "char") RETURNS tsvector
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
CREATE OR REPLACE FUNCTION platform.search_query(words text) RETURNS tsquery
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT plainto_tsquery('pg_catalog.portuguese', platform.search_stems(q.parts[1]))
        && (plainto_tsquery('pg_catalog.portuguese', platform.search_stems(q.parts[2]))
            || to_tsquery('pg_catalog.simple', '''' || q.parts[2] || ''':*'))
    FROM (SELECT regexp_match(platform.search_words(words), '^(.*?)(\S+)\s*$')) q(parts)
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION platform.search_query(text) IS
    'The query that search_vector answers: every word by its stem, the last one also as a prefix. Null, which nothing matches, when there is no word.';

CREATE TABLE platform.idempotency_keys (
    key_mac       bytea PRIMARY KEY,
    body_mac      bytea NOT NULL,
    attempt_id    platform.object_id NOT NULL,
    running_until timestamptz NOT NULL,
    subject_id    platform.object_id,
    answer        bytea,
    created_at    timestamptz NOT NULL,
    CONSTRAINT idempotency_keys_macs CHECK (length(key_mac) = 32 AND length(body_mac) = 32)
);
COMMENT ON TABLE platform.idempotency_keys IS 'Requests that were sent with an Idempotency-Key in the last 24 hours, with the answer that their repetitions get. Swept by job.';
COMMENT ON COLUMN platform.idempotency_keys.key_mac IS 'HMAC-SHA-256 of route, caller and key.';
COMMENT ON COLUMN platform.idempotency_keys.body_mac IS 'HMAC-SHA-256 of the request body, by which another body is told: nobody finds card data in it.';
COMMENT ON COLUMN platform.idempotency_keys.attempt_id IS 'Whoever works on the request. One who has lost it to another may not commit.';
COMMENT ON COLUMN platform.idempotency_keys.running_until IS 'Until then the attempt is under way; later, without an answer, it was cut off and may be taken over.';
COMMENT ON COLUMN platform.idempotency_keys.subject_id IS 'The order or subscription that stands for the wish, set in the transaction that wrote it: a repetition never makes a second one while this one lives.';
COMMENT ON COLUMN platform.idempotency_keys.answer IS 'Status and body of the first answer, sealed with AES-256-GCM: it may hold secrets of gateways and codes of tickets.';
CREATE INDEX idempotency_keys_by_age ON platform.idempotency_keys (created_at);

CREATE TABLE platform.breaking_migrations (
    version bigint PRIMARY KEY,
    needs   bigint NOT NULL CONSTRAINT breaking_migrations_need_earlier CHECK (needs <= version)
);
COMMENT ON TABLE platform.breaking_migrations IS 'Migrations with which older programs do not run: the lines "-- breaks: <version>" of those that this database has. Written by the migrations themselves, so that a program which does not know the file can read it.';
COMMENT ON COLUMN platform.breaking_migrations.needs IS 'The migration that a program has to know at least. One that knows only earlier ones refuses to start.';

-- +goose Down
DROP SCHEMA platform CASCADE;
