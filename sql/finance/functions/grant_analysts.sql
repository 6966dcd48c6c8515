CREATE OR REPLACE FUNCTION finance.grant_analysts() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    role text;
    report text;
BEGIN
    FOREACH role IN ARRAY ARRAY['marquee_analyst', 'marquee_analyst_personal'] LOOP
        CONTINUE WHEN NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role);
        EXECUTE format('GRANT USAGE ON SCHEMA finance TO %I', role);
        EXECUTE format('REVOKE ALL ON ALL TABLES IN SCHEMA finance_internal FROM %I', role);
        EXECUTE format('REVOKE ALL ON SCHEMA finance_internal FROM %I', role);
        FOR report IN SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'finance'::regnamespace AND c.relkind = 'v' LOOP
            IF role = 'marquee_analyst_personal' OR report NOT LIKE '%\_personal' THEN
                EXECUTE format('GRANT SELECT ON finance.%I TO %I', report, role);
            END IF;
        END LOOP;
    END LOOP;
END
$$;
COMMENT ON FUNCTION finance.grant_analysts() IS 'Lets marquee_analyst read every view of this schema but those named …_personal, and marquee_analyst_personal these too. What no analyst reads lies in schema finance_internal. Run by each migration that makes a view, and by an administrator who made the roles themselves.';
