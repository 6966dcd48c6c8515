-- name: BeginSnapshot :exec
-- For the transaction alone: the instant as of which expiry is judged, and how
-- many milliseconds a statement may run.
SELECT set_config('finance.now', sqlc.arg(now)::text, true), set_config('statement_timeout', sqlc.arg(timeout)::text, true);
