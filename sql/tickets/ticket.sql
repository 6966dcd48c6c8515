-- name: TicketRequestRefund :many
-- The compare-and-set by which a refund takes tickets: one refund gives back a share.
UPDATE tickets.tickets SET refund_id = @refund_id::text, refund_asked_at = @now::timestamptz, register_update_date = @now::timestamptz
WHERE id = ANY(@ids::text[]) AND order_id = @order_id AND refund_id IS NULL AND (status <> 'consumed' OR @with_consumed::bool)
RETURNING id;

-- name: TicketBlock :one
-- Why a ticket opens no door although it is neither used nor expired, "" when nothing
-- blocks it, and since when.
SELECT coalesce(tickets.blocked(t.status, t.refund_id, o.disputed_at, e.cancelled_at), '')::text AS reason,
    coalesce(t.refund_asked_at, e.cancelled_at, o.disputed_at, t.register_update_date)::timestamptz AS since
FROM tickets.tickets t JOIN tickets.events e ON e.id = t.event_id LEFT JOIN tickets.orders o ON o.id = t.order_id
WHERE t.id = @id;

-- name: TicketConsume :one
-- The compare-and-set by which a ticket is used: of two at once, one gets the row.
UPDATE tickets.tickets t SET status = m.to_status, consumed_at = @now, consume_nonce = sqlc.narg('nonce'), reason = @reason, actor_id = @actor_id, register_update_date = @now
FROM tickets.events e, (SELECT unnest(@from_states::text[]) AS from_status, unnest(@to_states::text[]) AS to_status) m
WHERE t.id = @id AND t.status = m.from_status AND e.id = t.event_id AND e.ends_at > @now
    AND tickets.blocked(t.status, t.refund_id, (SELECT o.disputed_at FROM tickets.orders o WHERE o.id = t.order_id), e.cancelled_at) IS NULL
    AND NOT EXISTS (SELECT FROM tickets.readmissions r WHERE r.ticket_id = t.id AND r.nonce = sqlc.narg('nonce'))
RETURNING t.*;

-- name: TicketConsumeScanned :one
-- A scan made at a door without network, uploaded later: it counts from its own
-- instant, also when the event is over, or the ticket blocked or expired by an admin's
-- edit, meanwhile.
UPDATE tickets.tickets t SET status = m.to_status, consumed_at = @scanned_at, consume_nonce = sqlc.narg('nonce'), reason = @reason, actor_id = @actor_id, register_update_date = @now
FROM tickets.events e, (SELECT unnest(@from_states::text[]) AS from_status, unnest(@to_states::text[]) AS to_status) m
WHERE t.id = @id AND t.status = m.from_status AND e.id = t.event_id AND e.ends_at > @scanned_at
    AND NOT EXISTS (SELECT FROM tickets.readmissions r WHERE r.ticket_id = t.id
        AND (r.nonce = @scan::text OR r.nonce IS NULL AND sqlc.narg('nonce')::text IS NULL AND r.consumed_at = @scanned_at))
    AND (t.refund_asked_at IS NULL OR t.refund_asked_at > @scanned_at) AND (e.cancelled_at IS NULL OR e.cancelled_at > @scanned_at)
    AND NOT EXISTS (SELECT 1 FROM tickets.orders o WHERE o.id = t.order_id AND o.disputed_at <= @scanned_at)
    AND (t.status <> 'expired' OR t.holds_place AND (t.reason = 'event_ended'
        OR NOT EXISTS (SELECT 1 FROM tickets.transitions h WHERE h.ticket_id = t.id AND h.to_status = 'expired' AND h.at <= @scanned_at)
            AND NOT EXISTS (SELECT 1 FROM tickets.past_blocks b WHERE b.order_id = t.order_id AND coalesce(b.ticket_id, t.id) = t.id
                AND b.since <= @scanned_at AND @scanned_at < b.until)))
RETURNING t.*;

-- name: TicketUndoConsume :one
-- The compare-and-set by which a scan is undone, with the row that keeps the scan from counting again: of two at once,
-- one gets it.
WITH used AS (
    SELECT t.id, t.consumed_at, t.consume_nonce, m.to_status
    FROM tickets.tickets t JOIN (SELECT unnest(@from_states::text[]) AS from_status, unnest(@to_states::text[]) AS to_status) m ON m.from_status = t.status
    JOIN tickets.events e ON e.id = t.event_id LEFT JOIN tickets.orders o ON o.id = t.order_id
    WHERE t.id = @id AND t.consumed_at >= @since::timestamptz AND e.ends_at > @now::timestamptz
        AND tickets.blocked(m.to_status, t.refund_id, o.disputed_at, e.cancelled_at) IS NULL
    FOR NO KEY UPDATE OF t
), readmitted AS (
    UPDATE tickets.tickets t SET status = u.to_status, consumed_at = NULL, consume_nonce = NULL, reason = @reason, actor_id = @actor_id,
        register_update_date = @now::timestamptz
    FROM used u WHERE t.id = u.id RETURNING t.id
)
INSERT INTO tickets.readmissions (ticket_id, at, consumed_at, nonce, reason, actor_id)
SELECT u.id, @now::timestamptz, u.consumed_at, u.consume_nonce, @words::text, @actor_id FROM used u JOIN readmitted USING (id)
RETURNING consumed_at;

-- name: ReadmissionGet :one
-- When the scan of a nonce was undone, of a scan without one by the instant that counted.
SELECT r.at FROM tickets.readmissions r
WHERE r.ticket_id = @ticket_id AND (r.nonce = @scan::text OR r.nonce IS NULL AND sqlc.narg('nonce')::text IS NULL AND r.consumed_at = sqlc.narg('scanned_at')::timestamptz)
ORDER BY r.id DESC LIMIT 1;

-- name: TicketGetForReadmission :one
-- What holds against undoing a ticket's scan: its event is over, or what would block the ticket as that status.
SELECT t.status, t.consumed_at, (e.ends_at <= @now::timestamptz)::bool AS over,
    coalesce(tickets.blocked(@to_status::text, t.refund_id, o.disputed_at, e.cancelled_at), '')::text AS blocked
FROM tickets.tickets t JOIN tickets.events e ON e.id = t.event_id LEFT JOIN tickets.orders o ON o.id = t.order_id
WHERE t.id = @id;

-- name: ReadmissionForgetWordsOf :exec
UPDATE tickets.readmissions r SET reason = NULL FROM tickets.tickets t
WHERE t.id = r.ticket_id AND t.customer_id = @customer_id AND r.reason IS NOT NULL;

-- name: TicketLockOrders :many
-- Locks the orders of tickets, in the order of ids: before their events.
SELECT o.id FROM tickets.orders o
WHERE o.id IN (SELECT t.order_id FROM tickets.tickets t WHERE t.id = ANY(@ids::text[])) ORDER BY o.id FOR NO KEY UPDATE;

-- name: TicketListStanding :many
-- How tickets stand to the money of their orders: what was paid and is not given back, and
-- what keeps them from being good.
SELECT t.id, t.status, t.order_id, o.state AS order_state, o.total_cents,
    (t.refund_id IS NOT NULL OR EXISTS (SELECT 1 FROM tickets.give_backs g WHERE g.order_id = t.order_id AND g.asked_at IS NOT NULL))::bool AS refund_asked, (t.refunded_at IS NOT NULL)::bool AS refunded,
    (o.disputed_at IS NOT NULL)::bool AS disputed, (e.cancelled_at IS NOT NULL)::bool AS cancelled
FROM tickets.tickets t JOIN tickets.events e ON e.id = t.event_id
CROSS JOIN LATERAL (
    SELECT x.state, x.total_cents, x.disputed_at FROM tickets.orders x WHERE x.id = t.order_id
    UNION ALL SELECT '', 0, NULL WHERE t.order_id IS NULL
) o
WHERE t.id = ANY(@ids::text[]) ORDER BY t.id;

-- name: TicketLockEvents :many
-- Locks the events of tickets, in the order of ids: before the tickets themselves.
SELECT e.id FROM tickets.events e
WHERE e.id IN (SELECT t.event_id FROM tickets.tickets t WHERE t.id = ANY(@ids::text[])) ORDER BY e.id FOR NO KEY UPDATE;

-- name: TicketLockEventsOf :many
SELECT e.id FROM tickets.events e
WHERE e.id IN (SELECT t.event_id FROM tickets.tickets t WHERE t.customer_id = @customer_id) ORDER BY e.id FOR NO KEY UPDATE;

-- name: TicketDeleteUnusedOf :exec
DELETE FROM tickets.tickets WHERE customer_id = @customer_id AND status <> 'consumed';

-- name: TicketDropOfOrder :exec
-- A purchase that never came about leaves no tickets.
DELETE FROM tickets.tickets WHERE order_id = @order_id AND status IN ('pending', 'expired');

-- name: TicketExpireOfEvent :execrows
-- The event is over. What was paid keeps counting; what was not gives its place back.
-- Places that wait for an order's money go through their order.
UPDATE tickets.tickets t SET status = m.to_status, reason = @reason, actor_id = NULL, register_update_date = @now
FROM (SELECT unnest(@from_states::text[]) AS from_status, unnest(@to_states::text[]) AS to_status) m
WHERE t.event_id = @event_id AND t.status = m.from_status AND (t.status <> 'pending'
    OR NOT EXISTS (SELECT 1 FROM tickets.orders o WHERE o.id = t.order_id AND o.state = 'reserved'));

-- name: TicketExpireOfOrder :exec
-- Nobody paid in time.
UPDATE tickets.tickets t SET status = m.to_status, reason = @reason, actor_id = NULL, register_update_date = @now
FROM (SELECT unnest(@from_states::text[]) AS from_status, unnest(@to_states::text[]) AS to_status) m
WHERE t.order_id = @order_id AND t.status = m.from_status;

-- name: TicketExpireUnused :exec
-- The money went back, or a dispute took it: what is not used is void, and its place free,
-- also that of a ticket that had expired with its event or by an admin's edit.
UPDATE tickets.tickets t SET status = m.to_status, holds_place = false, reason = @reason, actor_id = NULL, register_update_date = @now
FROM (SELECT unnest(@from_states::text[]) AS from_status, unnest(@to_states::text[]) AS to_status) m
WHERE t.order_id = @order_id AND t.status = m.from_status AND (t.status <> 'expired' OR t.holds_place);

-- name: TicketGet :one
SELECT * FROM tickets.tickets WHERE id = @id;

-- name: TicketInsert :many
-- Issues one ticket to each customer.
INSERT INTO tickets.tickets (event_id, customer_id, title, description, status, reason, actor_id, promo_code_id, promo_code, image_id,
    document_created_by_id, register_date, register_update_date)
SELECT @event_id, c.id, @title, sqlc.narg('description'), 'available', @reason, sqlc.narg('actor_id'), sqlc.narg('promo_code_id'), sqlc.narg('promo_code'),
    sqlc.narg('image_id'), sqlc.narg('actor_id'), @now, @now
FROM (SELECT unnest(@customer_ids::text[]) AS id) c
RETURNING id;

-- name: TicketListHolders :many
-- Who has good tickets of an event, and, where it is called off, who has used theirs; nobody who bought at the box office.
SELECT DISTINCT t.customer_id FROM tickets.tickets t
WHERE t.event_id = @event_id AND (t.status = 'available' OR t.status = 'consumed' AND @with_consumed::bool)
    AND NOT EXISTS (SELECT FROM tickets.orders o WHERE o.id = t.order_id AND o.sold_by_id IS NOT NULL) ORDER BY t.customer_id;

-- name: TicketListConsumed :many
SELECT id, consumed_at FROM tickets.tickets WHERE event_id = @event_id AND status = 'consumed' ORDER BY id;

-- name: TicketListOfOrder :many
SELECT * FROM tickets.tickets WHERE order_id = @order_id ORDER BY id;

-- name: TicketListIDsOfCustomer :many
SELECT id FROM tickets.tickets WHERE customer_id = @customer_id ORDER BY id;

-- name: TicketListIDsOfOrders :many
SELECT id, order_id FROM tickets.tickets WHERE order_id = ANY(@order_ids::text[]) ORDER BY id;

-- name: TicketListRevoked :many
-- Ids whose codes are void although the signature is right. A ticket that was never
-- good has no code that anybody could show, and may yet be paid while the door is
-- without network.
SELECT t.id::text AS id FROM tickets.tickets t WHERE t.event_id = @event_id AND t.status IN ('pending', 'expired')
    AND EXISTS (SELECT 1 FROM tickets.transitions h WHERE h.ticket_id = t.id AND h.to_status = 'available')
UNION ALL
SELECT t.id::text FROM tickets.tickets t JOIN tickets.events e ON e.id = t.event_id LEFT JOIN tickets.orders o ON o.id = t.order_id
WHERE t.event_id = @event_id AND t.status = 'available' AND tickets.blocked(t.status, t.refund_id, o.disputed_at, e.cancelled_at) IS NOT NULL
UNION ALL
SELECT ticket_id::text FROM tickets.transitions h WHERE h.event_id = @event_id AND h.to_status = 'deleted' AND h.from_status <> 'pending'
ORDER BY id;

-- name: TicketReviveOfEvent :execrows
-- The event, which the caller has locked, is not over after all: what expired because
-- it had ended becomes what it was before. A place that was given back is taken
-- again as long as there are any, the oldest ticket first. Of orders whose money went
-- back nothing returns.
WITH ended AS (
    SELECT t.id, h.from_status, CASE WHEN NOT t.holds_place THEN row_number() OVER (PARTITION BY t.holds_place ORDER BY t.register_date, t.id) ELSE 0 END AS places
    FROM tickets.tickets t
    LEFT JOIN tickets.orders o ON o.id = t.order_id
    CROSS JOIN LATERAL (SELECT x.from_status, x.reason FROM tickets.transitions x WHERE x.ticket_id = t.id ORDER BY x.id DESC LIMIT 1) h
    WHERE t.event_id = @event_id AND t.status = 'expired' AND h.reason = 'event_ended' AND (t.order_id IS NULL OR o.state = 'paid') AND t.refund_id IS NULL
)
UPDATE tickets.tickets t SET status = n.from_status, reason = @reason, actor_id = @actor_id, register_update_date = @now
FROM ended n, tickets.events e
WHERE t.id = n.id AND t.status = 'expired' AND e.id = t.event_id
    AND (n.places = 0 OR e.capacity IS NULL OR e.tickets_issued + n.places <= e.capacity);

-- name: TicketSeatOfOrder :execrows
-- The money is there: tickets that wait for it become good, also expired ones,
-- which take their places again.
UPDATE tickets.tickets t SET status = m.to_status, reason = @reason, actor_id = NULL, register_update_date = @now
FROM (SELECT unnest(@from_states::text[]) AS from_status, unnest(@to_states::text[]) AS to_status) m
WHERE t.order_id = @order_id AND t.status = m.from_status;

-- name: TicketVoidAt :one
-- Why a ticket that had been good was void or blocked at an instant, and since when: whatever
-- happened last until then, also when another status came over it since. No row when it was
-- good, or when its event had merely ended. A block that ended later is told as well.
SELECT v.at::timestamptz AS at, v.reason::text AS reason FROM (
    (SELECT x.at, x.reason, x.to_status FROM tickets.transitions x WHERE x.ticket_id = @ticket_id AND x.at <= @instant ORDER BY x.id DESC LIMIT 1)
    UNION ALL
    SELECT t.refund_asked_at, 'refund_requested', NULL FROM tickets.tickets t WHERE t.id = @ticket_id AND t.refund_asked_at <= @instant
    UNION ALL
    SELECT e.cancelled_at, 'event_cancelled', NULL FROM tickets.tickets t JOIN tickets.events e ON e.id = t.event_id WHERE t.id = @ticket_id AND e.cancelled_at <= @instant
    UNION ALL
    SELECT o.disputed_at, 'payment_disputed', NULL FROM tickets.tickets t JOIN tickets.orders o ON o.id = t.order_id WHERE t.id = @ticket_id AND o.disputed_at <= @instant
    UNION ALL
    SELECT b.since, b.reason, NULL FROM tickets.tickets t JOIN tickets.past_blocks b ON b.order_id = t.order_id AND coalesce(b.ticket_id, t.id) = t.id
    WHERE t.id = @ticket_id AND b.since <= @instant AND @instant < b.until
) v
WHERE (v.to_status IS NULL OR v.to_status IN ('pending', 'expired') AND v.reason <> 'event_ended')
    AND EXISTS (SELECT 1 FROM tickets.transitions x WHERE x.ticket_id = @ticket_id AND x.to_status = 'available')
ORDER BY v.at DESC, v.to_status NULLS LAST LIMIT 1;

-- name: TicketLeave :exec
-- Their buyer has given them back: they are void at once, and their places free.
UPDATE tickets.tickets t SET status = m.to_status, holds_place = false, reason = @reason, actor_id = NULL, register_update_date = @now
FROM (SELECT unnest(@from_states::text[]) AS from_status, unnest(@to_states::text[]) AS to_status) m
WHERE t.order_id = @order_id AND t.refund_id = @refund_id::text AND t.status = m.from_status;

-- name: TicketReturn :execrows
-- The refund is done: tickets that are not used are void, and their places free.
UPDATE tickets.tickets t SET refunded_at = @now::timestamptz, register_update_date = @now::timestamptz, actor_id = NULL,
    status = m.to_status, holds_place = t.status = 'consumed', reason = CASE WHEN t.status = 'consumed' THEN t.reason ELSE @reason END
FROM (SELECT unnest(@from_states::text[]) AS from_status, unnest(@to_states::text[]) AS to_status) m
WHERE t.order_id = @order_id AND t.refund_id = ANY(@refund_ids::text[]) AND t.refunded_at IS NULL AND t.status = m.from_status;

-- name: TicketReturnFailed :exec
-- The refund failed: the share is not given back. What was void by it stays void.
UPDATE tickets.tickets SET refund_id = NULL, refund_asked_at = NULL, refunded_at = NULL, register_update_date = @now
WHERE order_id = @order_id AND refund_id = ANY(@refund_ids::text[]);

-- name: TicketSeatMore :exec
-- Tickets of an order that were taken away before its money came.
INSERT INTO tickets.tickets (event_id, customer_id, order_id, title, status, reason, without_login, image_id, document_created_by_id, register_date, register_update_date)
SELECT o.event_id, o.customer_id, o.id, e.title, 'available', @reason, o.without_login, e.image_id, CASE WHEN NOT o.without_login THEN o.customer_id END, @now, @now
FROM tickets.orders o JOIN tickets.events e ON e.id = o.event_id CROSS JOIN LATERAL generate_series(1, @quantity::int)
WHERE o.id = @order_id;
