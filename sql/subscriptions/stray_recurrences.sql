-- name: StrayRecurrenceInsert :exec
INSERT INTO subscriptions.stray_recurrences (gateway, recurrence_id, reference, payment_id, held, found_at)
VALUES (@gateway, @recurrence_id, @reference, @payment_id, @held, @now) ON CONFLICT DO NOTHING;

-- name: StrayRecurrenceListOpen :many
SELECT * FROM subscriptions.stray_recurrences WHERE ended_at IS NULL ORDER BY found_at, recurrence_id LIMIT 1000;

-- name: StrayRecurrenceConfirm :exec
UPDATE subscriptions.stray_recurrences SET confirmed_at = @now::timestamptz WHERE ended_at IS NULL AND confirmed_at IS NULL AND found_at < @now::timestamptz
  AND gateway = ANY(@gateways::text[]);

-- name: StrayRecurrenceMarkMailed :execrows
UPDATE subscriptions.stray_recurrences SET told_at = @now WHERE gateway = @gateway AND recurrence_id = @recurrence_id AND told_at IS NULL AND ended_at IS NULL;

-- name: StrayRecurrenceEnd :exec
UPDATE subscriptions.stray_recurrences SET outcome = @outcome, ended_at = @now WHERE gateway = @gateway AND recurrence_id = @recurrence_id AND ended_at IS NULL;
