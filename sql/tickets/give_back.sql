-- name: GiveBackRequest :exec
-- The refund that gives the order's money back is being committed.
INSERT INTO tickets.give_backs (order_id, event_id, why, asked_at, refund_id, created_at)
VALUES (@order_id, @event_id, @why, @now, @refund_id::text, @now)
ON CONFLICT (order_id) DO UPDATE SET asked_at = coalesce(tickets.give_backs.asked_at, excluded.asked_at), refund_id = excluded.refund_id, failed_at = NULL;

-- name: GiveBackRequestOfEvent :execrows
-- Everybody's money goes back now, not only theirs who ask.
UPDATE tickets.give_backs g SET asked_at = @now FROM tickets.orders o
WHERE g.event_id = @event_id AND g.asked_at IS NULL AND o.id = g.order_id AND o.sold_by_id IS NULL;

-- name: GiveBackFail :exec
UPDATE tickets.give_backs SET refund_id = NULL, failed_at = @now WHERE order_id = @order_id;

-- name: GiveBackGet :one
SELECT * FROM tickets.give_backs WHERE order_id = @order_id;

-- name: GiveBackListDue :many
-- Orders whose refund is to be asked for. While a dispute is open the money is with the payer's bank.
SELECT g.order_id FROM tickets.give_backs g JOIN tickets.orders o ON o.id = g.order_id
WHERE g.asked_at IS NOT NULL AND g.refund_id IS NULL AND g.failed_at IS NULL AND (g.next_at IS NULL OR g.next_at <= @now)
    AND o.state = 'paid' AND o.disputed_at IS NULL
ORDER BY g.created_at, g.order_id LIMIT @most::int;

-- name: GiveBackListOfEvent :many
SELECT order_id FROM tickets.give_backs WHERE event_id = @event_id AND why = 'event_cancelled' ORDER BY order_id;

-- name: GiveBackOpen :exec
-- Paid orders of an event that is called off, and one that is paid after that. What the box office sold is handed back
-- there, when its holders come.
INSERT INTO tickets.give_backs (order_id, event_id, why, asked_at, created_at)
SELECT o.id, o.event_id, 'event_cancelled', CASE WHEN o.sold_by_id IS NULL THEN sqlc.narg('asked_at')::timestamptz END, @now FROM tickets.orders o
WHERE o.event_id = @event_id AND o.total_cents > 0 AND CASE WHEN sqlc.narg('order_id')::text IS NULL THEN o.state = 'paid' ELSE o.id = sqlc.narg('order_id') END
ON CONFLICT (order_id) DO NOTHING;

-- name: GiveBackPostpone :exec
UPDATE tickets.give_backs SET refund_id = NULL, tries = tries + 1, next_at = @next_at
WHERE order_id = @order_id AND failed_at IS NULL AND coalesce(refund_id, '') = @refund_id::text;

-- name: GiveBackProgress :one
-- How far the money of a called off event has come.
SELECT count(*) AS orders, count(*) FILTER (WHERE o.state = 'refunded') AS refunded,
    count(*) FILTER (WHERE o.state = 'paid' AND g.failed_at IS NOT NULL AND o.disputed_at IS NULL) AS failed,
    count(*) FILTER (WHERE o.state = 'lost' OR o.disputed_at IS NOT NULL AND o.state <> 'refunded') AS disputed,
    count(*) FILTER (WHERE g.asked_at IS NULL AND o.state = 'paid' AND o.disputed_at IS NULL) AS not_asked
FROM tickets.give_backs g JOIN tickets.orders o ON o.id = g.order_id
WHERE g.event_id = @event_id AND g.why = 'event_cancelled';
