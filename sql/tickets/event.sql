-- name: EventCancel :exec
UPDATE tickets.events SET cancelled_at = @now, cancel_reason = @reason, cancel_refund = @refund, refund_until = sqlc.narg('refund_until'), is_active = false, register_update_date = @now
WHERE id = @id AND cancelled_at IS NULL;

-- name: EventRefundAll :exec
-- Of an event that was called off on request everybody's money goes back after all.
UPDATE tickets.events SET cancel_refund = 'all', refund_until = NULL, register_update_date = @now WHERE id = @id AND cancel_refund = 'on_request';

-- name: EventDropUnheldTickets :exec
-- Places that were given back unpaid do not keep an event from being deleted.
DELETE FROM tickets.tickets WHERE event_id = ANY(@ids::text[]) AND NOT holds_place;

-- name: EventDropUnpaidOrders :exec
DELETE FROM tickets.orders WHERE event_id = ANY(@ids::text[]) AND state = 'released' AND paid_at IS NULL AND NOT intent_open;

-- name: EventExists :one
SELECT EXISTS (SELECT 1 FROM tickets.events WHERE id = @id);

-- name: EventGet :one
-- All columns but search, which costs more to read than the others together. EventLock and EventListOnSale select the same.
SELECT id, code, title, description, event_type, event_date, event_end_date, ends_at, location, capacity, tickets_issued, ticket_value_cents,
    is_sale_box_office, image_id, is_active, max_per_person, places_unpaid, places_unpaid_guests, document_created_by_id, register_date, register_update_date,
    cancelled_at, cancel_reason, cancel_refund, refund_until, told_event_date, told_ends_at, age_rating, rating_reasons
FROM tickets.events WHERE id = @id;

-- name: EventLock :one
-- Whoever changes how many places are taken locks the event first, tickets after.
SELECT id, code, title, description, event_type, event_date, event_end_date, ends_at, location, capacity, tickets_issued, ticket_value_cents,
    is_sale_box_office, image_id, is_active, max_per_person, places_unpaid, places_unpaid_guests, document_created_by_id, register_date, register_update_date,
    cancelled_at, cancel_reason, cancel_refund, refund_until, told_event_date, told_ends_at, age_rating, rating_reasons
FROM tickets.events WHERE id = @id FOR NO KEY UPDATE;

-- name: EventLockForSale :one
-- Locks the event for orders, and tells what those who order hold of it already, if anything bounds that:
-- see tickets.places_taken, which begins when the lock is there. So do the declines of the cards they try.
SELECT e.id, e.title, e.ends_at, e.capacity, e.tickets_issued, e.ticket_value_cents, e.is_sale_box_office, e.image_id, e.is_active,
    e.max_per_person, e.places_unpaid, e.places_unpaid_guests,
    CASE WHEN e.max_per_person IS NOT NULL OR e.ticket_value_cents > 0
        THEN tickets.places_taken(e.id, @customers::text[], @tax_ids::bytea[], @emails::bytea[], @addresses::bytea[]) END::integer[] AS taken,
    CASE WHEN cardinality(@tried_cards::bytea[]) > 0
        THEN tickets.declines_taken(@tried_addresses::bytea[], @tried_cards, @tried_buyers::bytea[], @since::timestamptz, true) END::integer[] AS declines
FROM (SELECT * FROM tickets.events l WHERE l.id = @id FOR NO KEY UPDATE) e;

-- name: EventLockManyForSale :many
-- As EventLockForSale, of many events at once, but for those that somebody else has locked: nobody is waited for, also
-- not by declines, which are null where somebody else counts of the same subject.
-- Each list of buyers stands beside the list of the events that they are asked of. The ids pass a subquery, so that
-- no plan depends on how many they are, and none is made anew for each call.
SELECT e.id, e.title, e.ends_at, e.capacity, e.tickets_issued, e.ticket_value_cents, e.is_sale_box_office, e.image_id, e.is_active,
    e.max_per_person, e.places_unpaid, e.places_unpaid_guests,
    CASE WHEN e.max_per_person IS NOT NULL OR e.ticket_value_cents > 0 THEN tickets.places_taken(e.id,
        ARRAY(SELECT c.subject FROM (SELECT unnest(@customer_events::text[]) AS event, unnest(@customers::text[]) AS subject) c WHERE c.event = e.id),
        ARRAY(SELECT c.subject FROM (SELECT unnest(@tax_id_events::text[]) AS event, unnest(@tax_ids::bytea[]) AS subject) c WHERE c.event = e.id),
        ARRAY(SELECT c.subject FROM (SELECT unnest(@email_events::text[]) AS event, unnest(@emails::bytea[]) AS subject) c WHERE c.event = e.id),
        ARRAY(SELECT c.subject FROM (SELECT unnest(@address_events::text[]) AS event, unnest(@addresses::bytea[]) AS subject) c WHERE c.event = e.id))
    END::integer[] AS taken,
    CASE WHEN e.id = ANY((SELECT @tried_events::text[])::text[]) THEN tickets.declines_taken(
        ARRAY(SELECT c.mac FROM (SELECT unnest(@tried_events) AS event, unnest(@tried_addresses::bytea[]) AS mac) c WHERE c.event = e.id),
        ARRAY(SELECT c.mac FROM (SELECT unnest(@tried_events) AS event, unnest(@tried_cards::bytea[]) AS mac) c WHERE c.event = e.id),
        ARRAY(SELECT c.mac FROM (SELECT unnest(@tried_events) AS event, unnest(@tried_buyers::bytea[]) AS mac) c WHERE c.event = e.id),
        @since::timestamptz, false) END::integer[] AS declines
FROM (SELECT * FROM tickets.events l WHERE l.id = ANY((SELECT @ids::text[])::text[]) FOR NO KEY UPDATE SKIP LOCKED) e;

-- name: EventLockEnded :many
-- Locks events in the order of their ids and tells which of them are over.
WITH locked AS MATERIALIZED (
    SELECT e.id, e.ends_at FROM tickets.events e WHERE e.id = ANY(@ids::text[]) ORDER BY e.id FOR NO KEY UPDATE
)
SELECT l.id FROM locked l WHERE l.ends_at <= @now::timestamptz ORDER BY l.id;

-- name: EventListOf :many
SELECT id, title, event_date, event_end_date, ends_at, location, is_active, cancelled_at, refund_until, told_event_date, told_ends_at FROM tickets.events WHERE id = ANY(@ids::text[]) ORDER BY id;

-- name: EventRecordMove :exec
-- What its holders know of its time, and until when they may give back.
UPDATE tickets.events SET told_event_date = sqlc.narg('told_event_date'), told_ends_at = sqlc.narg('told_ends_at'), refund_until = sqlc.narg('refund_until') WHERE id = @id;

-- name: EventListEnded :many
-- Events that are over and have tickets that do not know it yet.
SELECT e.id FROM tickets.events e
WHERE e.ends_at <= @now AND EXISTS (
    SELECT 1 FROM tickets.tickets t WHERE t.event_id = e.id AND t.status IN ('pending', 'available') AND (t.status = 'available'
        OR NOT EXISTS (SELECT 1 FROM tickets.orders o WHERE o.id = t.order_id AND o.state = 'reserved')))
ORDER BY e.ends_at LIMIT 200;

-- name: EventListImages :many
SELECT DISTINCT image_id::text::platform.object_id AS image_id FROM tickets.events WHERE image_id = ANY(@ids::text[]);

-- name: EventListOnSale :many
SELECT id, code, title, description, event_type, event_date, event_end_date, ends_at, location, capacity, tickets_issued, ticket_value_cents,
    is_sale_box_office, image_id, is_active, max_per_person, places_unpaid, places_unpaid_guests, document_created_by_id, register_date, register_update_date,
    cancelled_at, cancel_reason, cancel_refund, refund_until, told_event_date, told_ends_at, age_rating, rating_reasons
FROM tickets.events WHERE is_sale_box_office AND is_active AND ends_at > @now ORDER BY event_date, id LIMIT 1000;

-- name: EventSumPlaces :one
-- EventSumPlaces adds up the places of the events on sale that end next, of at most so many: those that are left (where
-- the capacity has a bound), held by orders that are not paid, and sold.
SELECT count(*) AS on_sale, count(*) FILTER (WHERE e.tickets_issued >= e.capacity) AS sold_out,
    coalesce(sum(greatest(e.capacity - e.tickets_issued, 0)), 0)::bigint AS free,
    coalesce(sum(e.places_unpaid), 0)::bigint AS held,
    coalesce(sum(greatest(e.tickets_issued - e.places_unpaid, 0)), 0)::bigint AS sold
FROM (SELECT capacity, tickets_issued, places_unpaid FROM tickets.events
    WHERE is_sale_box_office AND is_active AND ends_at > @now ORDER BY ends_at LIMIT @most) e;
