-- +goose Up
-- +goose StatementBegin
DO $$
DECLARE
    role text;
    setting text[];
    tries integer;
BEGIN
    FOREACH role IN ARRAY ARRAY['marquee_analyst', 'marquee_analyst_personal'] LOOP
        -- Roles belong to the cluster: another database's migration may be making them now.
        BEGIN
            IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role) THEN
                EXECUTE format('CREATE ROLE %I NOLOGIN', role);
            END IF;
        EXCEPTION
            WHEN duplicate_object OR unique_violation THEN
                NULL;
            WHEN insufficient_privilege THEN
                RAISE NOTICE 'Role % is not made: % may not create roles. Let an administrator create it (docs/analysts.md), then run SELECT finance.grant_analysts().', role, current_user;
                CONTINUE;
        END;
        FOREACH setting SLICE 1 IN ARRAY ARRAY[['default_transaction_read_only', 'on'], ['statement_timeout', '60s'], ['idle_in_transaction_session_timeout', '10min'], ['search_path', 'finance']] LOOP
            tries := 0;
            LOOP
                EXIT WHEN tries = 50 OR EXISTS (
                    SELECT FROM pg_roles, unnest(rolconfig) AS c WHERE rolname = role AND split_part(c, '=', 1) = setting[1]);
                tries := tries + 1;
                BEGIN
                    EXECUTE format('ALTER ROLE %I SET %s = %L', role, setting[1], setting[2]);
                EXCEPTION
                    -- internal_error is "tuple concurrently updated": somebody else set the same.
                    WHEN internal_error OR unique_violation THEN
                        NULL;
                    WHEN insufficient_privilege THEN
                        RAISE NOTICE '% of role % is not set: % may not change it. Let an administrator do so (docs/analysts.md).', setting[1], role, current_user;
                        EXIT;
                END;
            END LOOP;
        END LOOP;
    END LOOP;
END
$$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE FUNCTION finance.grant_analysts() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    role text;
    report text;
BEGIN
    FOREACH role IN ARRAY ARRAY['marquee_analyst', 'marquee_analyst_personal'] LOOP
        CONTINUE WHEN NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role);
        EXECUTE format('GRANT USAGE ON SCHEMA finance TO %I', role);
        FOR report IN SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'finance'::regnamespace AND c.relkind = 'v' LOOP
            IF role = 'marquee_analyst_personal' OR report NOT LIKE '%\_personal' THEN
                EXECUTE format('GRANT SELECT ON finance.%I TO %I', report, role);
            END IF;
        END LOOP;
    END LOOP;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION finance.grant_analysts() IS 'Lets marquee_analyst read every view of this schema but those named …_personal, and marquee_analyst_personal all of them. Run by each migration that makes a view, and by an administrator who made the roles himself.';
REVOKE EXECUTE ON FUNCTION finance.grant_analysts() FROM PUBLIC;
SELECT finance.grant_analysts();

-- +goose Down
-- The roles stay: they belong to the cluster, and other databases may use them.
-- +goose StatementBegin
DO $$
DECLARE role text;
BEGIN
    FOREACH role IN ARRAY ARRAY['marquee_analyst', 'marquee_analyst_personal'] LOOP
        IF EXISTS (SELECT FROM pg_roles WHERE rolname = role) THEN
            EXECUTE format('REVOKE ALL ON ALL TABLES IN SCHEMA finance FROM %I', role);
            EXECUTE format('REVOKE ALL ON SCHEMA finance FROM %I', role);
        END IF;
    END LOOP;
END
$$;
-- +goose StatementEnd
DROP FUNCTION finance.grant_analysts();
