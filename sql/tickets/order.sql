-- name: OrderGet :one
SELECT * FROM tickets.orders WHERE id = @id;

-- name: OrderGetByPayment :one
SELECT * FROM tickets.orders WHERE gateway = @gateway AND gateway_payment_id = @gateway_payment_id;

-- name: OrderLock :one
SELECT * FROM tickets.orders WHERE id = @id FOR NO KEY UPDATE;

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

-- name: OrderForgetWalkIns :exec
-- What buyers at the box office said of themselves is kept until some days after the event.
WITH forgotten AS (
    UPDATE tickets.orders SET buyer_phone = NULL WHERE id IN (
        SELECT o.id FROM tickets.orders o JOIN tickets.events e ON e.id = o.event_id JOIN tickets.customers c ON c.id = o.customer_id
        WHERE o.sold_by_id IS NOT NULL AND e.ends_at <= @before AND (o.buyer_phone IS NOT NULL OR c.name <> '' OR c.email <> '') LIMIT 1000)
    RETURNING customer_id)
UPDATE tickets.customers SET name = '', email = '' WHERE id IN (SELECT f.customer_id FROM forgotten f);

-- name: OrderForgetHolders :execrows
-- Whose places they were is asked no more when the event is over.
UPDATE tickets.orders SET tax_id_mac = NULL, email_mac = NULL WHERE id IN (
    SELECT o.id FROM tickets.orders o JOIN tickets.events e ON e.id = o.event_id
    WHERE o.email_mac IS NOT NULL AND o.state <> 'reserved' AND e.ends_at <= @now LIMIT 5000);

-- name: OrderReserve :many
-- Writes orders with their tickets in one statement: all but the instant are lists of the same length. Prices, titles
-- and images are those of the events, which the caller has locked. The lists pass a subquery, so that no plan depends
-- on how long they are, and none is made anew for each call.
WITH lists AS MATERIALIZED (
    SELECT @ids::text[] AS ids, @customer_ids::text[] AS customer_ids, @event_ids::text[] AS event_ids, @quantities::int[] AS quantities,
        @unit_prices::bigint[] AS unit_prices, @titles::text[] AS titles, @image_ids::text[] AS image_ids,
        @gateways::text[] AS gateways, @methods::text[] AS methods, @gateway_customer_ids::text[] AS gateway_customer_ids,
        @payment_statuses::text[] AS payment_statuses, @without_login::bool[] AS without_login, @unproved::bool[] AS unproved,
        @hold_untils::timestamptz[] AS hold_untils, @sold_by_ids::text[] AS sold_by_ids, @sold_by::text[] AS sold_by,
        @notes::text[] AS notes, @buyer_phones::text[] AS buyer_phones,
        @tax_id_macs::bytea[] AS tax_id_macs, @email_macs::bytea[] AS email_macs, @address_macs::bytea[] AS address_macs,
        @reasons::text[] AS reasons,
        @tried_addresses::bytea[] AS tried_addresses, @tried_cards::bytea[] AS tried_cards, @tried_buyers::bytea[] AS tried_buyers
), requests AS (
    SELECT unnest(l.ids) AS id, unnest(l.customer_ids) AS customer_id, unnest(l.event_ids) AS event_id, unnest(l.quantities) AS quantity,
        unnest(l.unit_prices) AS price, unnest(l.titles) AS title, unnest(l.image_ids) AS image_id,
        unnest(l.gateways) AS gateway, unnest(l.methods) AS method, unnest(l.gateway_customer_ids) AS gateway_customer_id,
        unnest(l.payment_statuses) AS payment_status, unnest(l.without_login) AS without_login, unnest(l.unproved) AS unproved,
        unnest(l.hold_untils) AS hold_until, unnest(l.sold_by_ids) AS sold_by_id, unnest(l.sold_by) AS sold_by,
        unnest(l.notes) AS note, unnest(l.buyer_phones) AS buyer_phone,
        unnest(l.tax_id_macs) AS tax_id_mac, unnest(l.email_macs) AS email_mac, unnest(l.address_macs) AS address_mac,
        unnest(l.reasons) AS reason,
        unnest(l.tried_addresses) AS tried_address, unnest(l.tried_cards) AS tried_card, unnest(l.tried_buyers) AS tried_buyer
    FROM lists l
), made AS (
    INSERT INTO tickets.orders (id, customer_id, event_id, quantity, unit_price_cents, total_cents, gateway, payment_method, gateway_customer_id,
        payment_status, state, without_login, hold_until, paid_at, intent_open, created_at, updated_at,
        tax_id_mac, email_mac, address_mac, sold_by_id, sold_by, note, buyer_phone, moves)
    SELECT w.id, w.customer_id, w.event_id, w.quantity, w.price, w.price * w.quantity, NULLIF(w.gateway, ''), NULLIF(w.method, ''),
        NULLIF(w.gateway_customer_id, ''), w.payment_status, CASE WHEN w.gateway = '' THEN 'paid' ELSE 'reserved' END, w.without_login,
        CASE WHEN w.gateway <> '' THEN w.hold_until END, CASE WHEN w.gateway = '' THEN @now::timestamptz END, w.gateway <> '',
        @now::timestamptz, @now::timestamptz,
        w.tax_id_mac, w.email_mac, w.address_mac,
        NULLIF(w.sold_by_id, ''), NULLIF(w.sold_by, ''), NULLIF(w.note, ''), NULLIF(w.buyer_phone, ''), 1
    FROM requests w
    RETURNING id, customer_id, event_id, quantity, state, without_login, sold_by_id
), begun AS (
    INSERT INTO tickets.order_transitions (order_id, at, to_state, reason)
    SELECT m.id, @now::timestamptz, m.state, w.reason FROM made m JOIN requests w ON w.id = m.id
), tried AS (
    INSERT INTO tickets.declines (subject, mac, at, order_id)
    SELECT s.subject, s.mac, @now::timestamptz, w.id FROM requests w
    CROSS JOIN LATERAL (VALUES ('address', w.tried_address), ('card', w.tried_card), ('buyer', w.tried_buyer)) AS s(subject, mac)
    WHERE s.mac IS NOT NULL
), seated AS (
    INSERT INTO tickets.tickets (event_id, customer_id, order_id, title, status, reason, actor_id, without_login, unproved, image_id, document_created_by_id, register_date, register_update_date)
    SELECT m.event_id, m.customer_id, m.id, w.title, CASE m.state WHEN 'paid' THEN 'available' ELSE 'pending' END,
        CASE WHEN m.sold_by_id IS NULL THEN 'purchased' ELSE 'box_office' END, m.sold_by_id, m.without_login, w.unproved,
        NULLIF(w.image_id, ''), coalesce(m.sold_by_id, CASE WHEN NOT m.without_login THEN m.customer_id END), @now::timestamptz, @now::timestamptz
    FROM made m JOIN requests w ON w.id = m.id CROSS JOIN LATERAL generate_series(1, m.quantity)
    RETURNING id, order_id
)
SELECT order_id::text AS order_id, array_agg(id::text ORDER BY id)::text[] AS ticket_ids FROM seated GROUP BY order_id;

-- name: OrderCountOverdue :one
-- OrderCountOverdue counts the orders whose places should have been released by the instant, at most so many.
SELECT count(*) FROM (SELECT FROM tickets.orders WHERE state = 'reserved' AND hold_until < @by LIMIT @most) overdue;

-- name: OrderListOfBoxOffice :many
-- Sales of the box office of an event, newest first, with their buyers and how many of their tickets are still good.
SELECT o.id, o.quantity, o.unit_price_cents, o.total_cents, o.payment_method, o.state, o.sold_by_id, o.sold_by, o.note, o.buyer_phone, o.created_at,
    c.name, c.email,
    (SELECT count(*) FROM tickets.tickets t WHERE t.order_id = o.id AND t.status = 'available' AND t.refund_id IS NULL) AS tickets_good
FROM tickets.orders o JOIN tickets.customers c ON c.id = o.customer_id
WHERE o.event_id = @event_id AND o.sold_by_id IS NOT NULL
    AND (sqlc.narg('since')::timestamptz IS NULL OR o.created_at >= sqlc.narg('since')) AND (sqlc.narg('until')::timestamptz IS NULL OR o.created_at < sqlc.narg('until'))
ORDER BY o.created_at DESC, o.id DESC OFFSET @skip::int LIMIT @qty::int;
