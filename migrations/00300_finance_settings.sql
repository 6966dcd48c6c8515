-- +goose Up
CREATE SCHEMA finance;
COMMENT ON SCHEMA finance IS 'Figures: one set of views for the API, the exports and analysts. Formulas: docs/analysts.md and GET /api/v1/admin/finance/definitions. Money in integer cents, days and months in the report time zone.';

CREATE TABLE finance.settings (
    only_row  boolean PRIMARY KEY DEFAULT true,
    report_tz text COLLATE "C" NOT NULL DEFAULT 'America/Sao_Paulo',
    CONSTRAINT settings_one_row CHECK (only_row)
);
COMMENT ON TABLE finance.settings IS 'One row: what every view has to know. Written by the service at start, from its configuration.';
COMMENT ON COLUMN finance.settings.report_tz IS 'Time zone of days and months, the configuration''s REPORT_TZ. Changed by finance.use_report_tz alone, since the rollups are kept by day.';
INSERT INTO finance.settings DEFAULT VALUES;

-- +goose StatementBegin
CREATE FUNCTION finance.now() RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT coalesce(nullif(current_setting('finance.now', true), '')::timestamptz, now())
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION finance.now() IS 'The instant as of which expiry and age are judged: the session''s setting finance.now (the service gives its clock that way), else the transaction''s start. It moves no rows: it is no time machine.';

CREATE VIEW finance.clock AS
SELECT s.report_tz, finance.now() AS now, (finance.now() AT TIME ZONE s.report_tz)::date AS today
FROM finance.settings s;
COMMENT ON VIEW finance.clock IS 'One row: the time zone of reports, and what time it is in them.';
COMMENT ON COLUMN finance.clock.report_tz IS 'Time zone of days and months (REPORT_TZ).';
COMMENT ON COLUMN finance.clock.now IS 'The instant as of which expiry and age are judged.';
COMMENT ON COLUMN finance.clock.today IS 'The calendar day of that instant in the report time zone.';

-- +goose StatementBegin
CREATE FUNCTION finance.exit_reason(reason text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE
        WHEN reason IN ('payment_failure', 'customer_cancelled', 'admin_cancelled', 'chargeback', 'expired') THEN reason
        WHEN reason IN ('replaced', 'gateway_status', 'payment_declined', 'nothing_at_gateway', 'abandoned', 'pix_unpaid') THEN 'payment_failure'
        ELSE 'admin_cancelled'
    END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION finance.exit_reason(text) IS 'The one of the five reasons of churn under which a move out of active counts. What waits for a payment that has not come is payment_failure, also a renewal that is not paid (yet); a word that is none of ours was somebody''s hand: admin_cancelled.';

-- +goose Down
DROP FUNCTION finance.exit_reason(text);
DROP VIEW finance.clock;
DROP FUNCTION finance.now();
DROP TABLE finance.settings;
DROP SCHEMA finance;
