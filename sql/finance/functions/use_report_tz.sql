CREATE OR REPLACE FUNCTION finance.use_report_tz(zone text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    IF (SELECT report_tz FROM finance.settings) = zone THEN
        RETURN false;
    END IF;
    PERFORM now() AT TIME ZONE zone; -- an unknown zone is refused here
    PERFORM pg_advisory_xact_lock(hashtextextended('finance.fold', 0));
    UPDATE finance.settings SET report_tz = zone;
    DELETE FROM finance.daily_rollup;
    DELETE FROM finance.return_rollup;
    DELETE FROM finance.cohort_rollup;
    DELETE FROM finance.mrr_rollup;
    PERFORM finance.rebuild();
    RETURN true;
END
$$;
COMMENT ON FUNCTION finance.use_report_tz(text) IS 'Changes the time zone of days and months and counts the rollups anew under it; true when it was another.';
