-- What the views of schema finance are built on moves to a schema in which analysts have no right. Views follow by themselves; functions
-- name what they read.
-- +goose Up
CREATE SCHEMA finance_internal;
COMMENT ON SCHEMA finance_internal IS 'The machinery of the views in schema finance: views named …_scan, …_unfolded and …_parts. Nobody but the owner has a right here.';
-- +goose StatementBegin
DO $$
DECLARE
    moved CONSTANT text[] := ARRAY['cohort_scan', 'daily_parts', 'daily_scan', 'daily_unfolded', 'due_scan', 'return_scan', 'standing_scan', 'tenure_scan'];
    named CONSTANT text := '\mfinance\.(' || array_to_string(moved, '|') || ')\M';
    internal text;
    reads regprocedure;
BEGIN
    FOREACH internal IN ARRAY moved LOOP
        EXECUTE format('ALTER VIEW finance.%I SET SCHEMA finance_internal', internal);
        EXECUTE format('REVOKE ALL ON finance_internal.%I FROM PUBLIC', internal);
    END LOOP;
    FOR reads IN SELECT p.oid FROM pg_proc p WHERE p.pronamespace = 'finance'::regnamespace AND p.prosrc ~ named LOOP
        EXECUTE regexp_replace(pg_get_functiondef(reads), named, 'finance_internal.\1', 'g');
    END LOOP;
END
$$;
-- +goose StatementEnd
-- +goose StatementBegin
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
-- +goose StatementEnd
COMMENT ON FUNCTION finance.grant_analysts() IS 'Lets marquee_analyst read every view of this schema but those named …_personal, and marquee_analyst_personal these too. What no analyst reads lies in schema finance_internal. Run by each migration that makes a view, and by an administrator who made the roles themselves.';
SELECT finance.grant_analysts();

-- +goose Down
-- +goose StatementBegin
DO $$
DECLARE
    moved CONSTANT text[] := ARRAY['cohort_scan', 'daily_parts', 'daily_scan', 'daily_unfolded', 'due_scan', 'return_scan', 'standing_scan', 'tenure_scan'];
    named CONSTANT text := '\mfinance_internal\.(' || array_to_string(moved, '|') || ')\M';
    internal text;
    reads regprocedure;
BEGIN
    FOREACH internal IN ARRAY moved LOOP
        EXECUTE format('ALTER VIEW finance_internal.%I SET SCHEMA finance', internal);
    END LOOP;
    FOR reads IN SELECT p.oid FROM pg_proc p WHERE p.pronamespace = 'finance'::regnamespace AND p.prosrc ~ named LOOP
        EXECUTE regexp_replace(pg_get_functiondef(reads), named, 'finance.\1', 'g');
    END LOOP;
END
$$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION finance.grant_analysts() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    role text;
    report text;
BEGIN
    FOREACH role IN ARRAY ARRAY['marquee_analyst', 'marquee_analyst_personal'] LOOP
        CONTINUE WHEN NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role);
        EXECUTE format('GRANT USAGE ON SCHEMA finance TO %I', role);
        FOR report IN SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'finance'::regnamespace AND c.relkind = 'v' LOOP
            IF report ~ '_(scan|unfolded|parts)$' THEN
                EXECUTE format('REVOKE ALL ON finance.%I FROM %I', report, role);
            ELSIF role = 'marquee_analyst_personal' OR report NOT LIKE '%\_personal' THEN
                EXECUTE format('GRANT SELECT ON finance.%I TO %I', report, role);
            END IF;
        END LOOP;
    END LOOP;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION finance.grant_analysts() IS 'Lets marquee_analyst read every view of this schema but those named …_personal, and marquee_analyst_personal these too. Views named …_scan, …_unfolded and …_parts are the machinery of the others and read by no analyst. Run by each migration that makes a view, and by an administrator who made the roles himself.';
SELECT finance.grant_analysts();
DROP SCHEMA finance_internal;
