-- name: DefinitionList :many
SELECT d.figure::text AS figure, d.formula::text AS formula, d.edges::text AS edges FROM finance.definitions d ORDER BY d.position;

-- name: ReportZoneGet :one
SELECT report_tz FROM finance.settings;
