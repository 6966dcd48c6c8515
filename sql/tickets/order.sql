-- name: OrderGet :one
SELECT * FROM tickets.orders WHERE id = @id;

-- name: OrderGetByPayment :one
SELECT * FROM tickets.orders WHERE gateway = @gateway AND gateway_payment_id = @gateway_payment_id;

-- name: OrderLock :one
SELECT * FROM tickets.orders WHERE id = @id FOR NO KEY UPDATE;

-- name: OrderListDueRecoveries :many
SELECT id FROM tickets.orders WHERE intent_open AND recovery_at <= @now ORDER BY recovery_at LIMIT 500;

-- name: OrderListReservedTooLong :many
-- Unpaid places whose time is over, or whose event is, or is called off.
SELECT o.id FROM tickets.orders o JOIN tickets.events e ON e.id = o.event_id
WHERE o.state = 'reserved' AND NOT o.intent_open AND (o.hold_until <= @now OR e.ends_at <= @now OR e.cancelled_at IS NOT NULL)
ORDER BY o.hold_until LIMIT 500;

-- name: OrderListOf :many
-- Orders of a customer, newest first; those that never came about are left out.
SELECT * FROM tickets.orders
WHERE customer_id = @customer_id AND (state <> 'released' OR gateway_payment_id IS NOT NULL) AND (@with_hidden::bool OR NOT without_login)
ORDER BY created_at DESC, id DESC LIMIT 1000;

-- name: OrderListPaidOf :many
-- A customer's orders of an event that may be given back, or are since it is called off.
SELECT o.* FROM tickets.orders o WHERE o.customer_id = @customer_id AND o.event_id = @event_id
    AND (o.state = 'paid' OR EXISTS (SELECT 1 FROM tickets.give_backs g WHERE g.order_id = o.id AND g.why = 'event_cancelled'))
ORDER BY o.created_at, o.id;

-- name: OrderListNamesOf :many
-- The ids by which gateways speak of a customer's orders.
SELECT o.id::text AS name FROM tickets.orders o WHERE o.customer_id = @customer_id
UNION SELECT o.gateway_payment_id::text FROM tickets.orders o WHERE o.customer_id = @customer_id AND o.gateway_payment_id IS NOT NULL
UNION SELECT o.gateway_customer_id::text FROM tickets.orders o WHERE o.customer_id = @customer_id AND o.gateway_customer_id IS NOT NULL;

-- name: OrderListRefundsDue :many
SELECT id FROM tickets.orders WHERE state = 'refund_due' ORDER BY id LIMIT 500;

-- name: OrderListReservedOf :many
SELECT id FROM tickets.orders WHERE customer_id = @customer_id AND state = 'reserved' ORDER BY id;

-- name: OrderForget :exec
-- The record of money stays, the person goes.
UPDATE tickets.orders SET pix_payload = NULL, pix_image = NULL, gateway_customer_id = NULL,
    tax_id_mac = NULL, email_mac = NULL, address_mac = NULL, updated_at = @now
WHERE customer_id = @customer_id;

-- name: OrderForgetHolders :execrows
-- Whose places they were is asked no more when the event is over.
UPDATE tickets.orders SET tax_id_mac = NULL, email_mac = NULL WHERE id IN (
    SELECT o.id FROM tickets.orders o JOIN tickets.events e ON e.id = o.event_id
    WHERE o.email_mac IS NOT NULL AND o.state <> 'reserved' AND e.ends_at <= @now LIMIT 5000);

-- name: OrderReserve :many
-- Writes orders of one event with their tickets in one statement: ids, buyers and
-- so on are lists of the same length. Prices and title are those of the event, which the
-- caller has locked.
WITH wish AS (
    SELECT unnest(@ids::text[]) AS id, unnest(@customer_ids::text[]) AS customer_id, unnest(@quantities::int[]) AS quantity,
        unnest(@gateways::text[]) AS gateway, unnest(@methods::text[]) AS method, unnest(@gateway_customer_ids::text[]) AS gateway_customer_id,
        unnest(@payment_statuses::text[]) AS payment_status, unnest(@without_login::bool[]) AS without_login, unnest(@unproved::bool[]) AS unproved,
        unnest(@hold_untils::timestamptz[]) AS hold_until, unnest(@recovery_ats::timestamptz[]) AS recovery_at,
        unnest(@tax_id_macs::bytea[]) AS tax_id_mac, unnest(@email_macs::bytea[]) AS email_mac, unnest(@address_macs::bytea[]) AS address_mac,
        @event_id::text AS event_id, @unit_price_cents::bigint AS price
), made AS (
    INSERT INTO tickets.orders (id, customer_id, event_id, quantity, unit_price_cents, total_cents, gateway, payment_method, gateway_customer_id,
        payment_status, state, without_login, hold_until, paid_at, intent_open, recovery_at, created_at, updated_at,
        tax_id_mac, email_mac, address_mac)
    SELECT w.id, w.customer_id, w.event_id, w.quantity, w.price, w.price * w.quantity, NULLIF(w.gateway, ''), NULLIF(w.method, ''),
        NULLIF(w.gateway_customer_id, ''), w.payment_status, CASE WHEN w.gateway = '' THEN 'paid' ELSE 'reserved' END, w.without_login,
        CASE WHEN w.gateway <> '' THEN w.hold_until END, CASE WHEN w.gateway = '' THEN @now::timestamptz END, w.gateway <> '',
        CASE WHEN w.gateway <> '' THEN w.recovery_at END, @now::timestamptz, @now::timestamptz,
        w.tax_id_mac, w.email_mac, w.address_mac
    FROM wish w
    RETURNING id, customer_id, event_id, quantity, state, without_login
), seated AS (
    INSERT INTO tickets.tickets (event_id, customer_id, order_id, title, status, reason, without_login, unproved, image_id, document_created_by_id, register_date, register_update_date)
    SELECT m.event_id, m.customer_id, m.id, @title::text, CASE m.state WHEN 'paid' THEN 'available' ELSE 'pending' END, 'purchased', m.without_login, w.unproved,
        sqlc.narg('image_id')::text, CASE WHEN NOT m.without_login THEN m.customer_id END, @now::timestamptz, @now::timestamptz
    FROM made m JOIN wish w ON w.id = m.id CROSS JOIN LATERAL generate_series(1, m.quantity)
    RETURNING id, order_id
)
SELECT order_id::text AS order_id, array_agg(id::text ORDER BY id)::text[] AS ticket_ids FROM seated GROUP BY order_id;
