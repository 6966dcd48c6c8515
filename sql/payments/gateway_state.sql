-- name: IntentCountOpen :many
-- IntentCountOpen counts the orders to each gateway whose outcome is open.
SELECT gateway, kind, count(*) AS open, count(*) FILTER (WHERE not_known_since IS NOT NULL) AS not_known,
    min(coalesce(not_known_since, created_at))::timestamptz AS oldest
FROM payments.intents WHERE state = 'open' GROUP BY gateway, kind ORDER BY gateway, kind;

-- name: GatewayStateCount :one
-- GatewayStateCount counts a check of something that was found before, within an hour.
UPDATE payments.gateway_state SET
    counted_from = CASE WHEN counted_from > @hour_ago::timestamptz THEN counted_from ELSE @now::timestamptz END,
    looked = CASE WHEN counted_from > @hour_ago THEN looked ELSE 0 END + 1,
    missed = CASE WHEN counted_from > @hour_ago THEN missed ELSE 0 END + CASE WHEN @missing::bool THEN 1 ELSE 0 END
WHERE gateway = @gateway
RETURNING *;

-- name: GatewayStateFail :exec
UPDATE payments.gateway_state SET failing_since = coalesce(failing_since, @now::timestamptz), failed_at = @now::timestamptz WHERE gateway = @gateway;

-- name: GatewayStateList :many
SELECT * FROM payments.gateway_state ORDER BY gateway;

-- name: GatewayStateLock :one
SELECT * FROM payments.gateway_state WHERE gateway = @gateway FOR UPDATE;

-- name: GatewayStateRead :one
SELECT * FROM payments.gateway_state WHERE gateway = @gateway;

-- name: GatewayStateRecover :execrows
-- GatewayStateRecover notes the first right answer after a failed one, once a minute at most: a single object that is always answered oddly does not
-- have all others asked about again and again.
UPDATE payments.gateway_state SET failing_since = NULL, forwarded_at = @now::timestamptz
WHERE gateway = @gateway AND failing_since IS NOT NULL
  AND (forwarded_at IS NULL OR forwarded_at <= @since::timestamptz OR forwarded_at > @now::timestamptz);

-- name: GatewayStateSpend :exec
UPDATE payments.gateway_state SET looks_left = @looks_left, window_ends = sqlc.narg(window_ends), failed_at = sqlc.narg(failed_at) WHERE gateway = @gateway;

-- name: GatewayStateSuspect :execrows
UPDATE payments.gateway_state SET suspect_since = @now::timestamptz WHERE gateway = @gateway AND suspect_since IS NULL;

-- name: GatewayStateTrust :execrows
UPDATE payments.gateway_state SET suspect_since = NULL, looked = 0, missed = 0, counted_from = NULL WHERE gateway = @gateway AND suspect_since IS NOT NULL;
