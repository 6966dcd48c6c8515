-- name: RollupCheck :one
-- RollupCheck compares the rollups with the scan in one statement, which sees one
-- instant of the database, and keeps the result.
WITH found AS MATERIALIZED (
    SELECT to_jsonb(d) AS difference FROM finance.rollup_differences() d
)
INSERT INTO finance.checks (checked_at, differences, examples, took_ms)
SELECT sqlc.arg(checked_at)::timestamptz, (SELECT count(*) FROM found), coalesce((SELECT jsonb_agg(x.difference) FROM (SELECT f.difference FROM found f LIMIT 20) x), '[]'),
    (extract(epoch FROM clock_timestamp() - statement_timestamp()) * 1000)::bigint
RETURNING differences, examples, took_ms;

-- name: RollupGetLastCheck :one
-- RollupGetLastCheck tells of the last comparison, and how many deltas wait.
SELECT coalesce((SELECT k.differences FROM finance.checks k ORDER BY k.id DESC LIMIT 1), 0)::bigint AS differences,
    coalesce((SELECT extract(epoch FROM k.checked_at) FROM finance.checks k ORDER BY k.id DESC LIMIT 1), 0)::float8 AS checked_at,
    ((SELECT count(*) FROM finance.daily_deltas) + (SELECT count(*) FROM finance.standing_deltas))::bigint AS unfolded;

-- name: RollupFold :one
SELECT finance.fold(sqlc.arg(at_most)::integer)::bigint AS folded;
