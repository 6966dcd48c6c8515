-- +goose Up
CREATE TABLE finance.invariant_results (
    name       text COLLATE "C" PRIMARY KEY,
    findings   bigint NOT NULL,
    offenders  jsonb NOT NULL,
    checked_at timestamptz NOT NULL,
    CONSTRAINT invariant_results_findings_not_negative CHECK (findings >= 0),
    CONSTRAINT invariant_results_offenders_are_list CHECK (jsonb_typeof(offenders) = 'array')
);
COMMENT ON TABLE finance.invariant_results IS 'What the last check of the invariants found, one row an invariant; every process shows it as metrics.';
COMMENT ON COLUMN finance.invariant_results.name IS 'Of a file in sql/finance/invariants.';
COMMENT ON COLUMN finance.invariant_results.offenders IS 'The first offenders, each with id and detail.';

-- +goose Down
DROP TABLE finance.invariant_results;
