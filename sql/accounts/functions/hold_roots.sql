CREATE OR REPLACE FUNCTION accounts.hold_roots() RETURNS void
LANGUAGE sql VOLATILE AS $$
    SELECT pg_advisory_xact_lock(hashtextextended('accounts.roots', 0))
$$;
COMMENT ON FUNCTION accounts.hold_roots() IS 'Until the transaction ends, nobody else counts the root users: without it two could each leave the other as the last one.';
