CREATE OR REPLACE FUNCTION accounts.fold(login text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT lower(normalize(login, NFKC) COLLATE "default")
$$;
COMMENT ON FUNCTION accounts.fold(text) IS 'The form in which usernames and e-mails are compared: without case and without look-alike forms of one character.';
