-- +goose Up
ALTER TABLE tickets.declines ADD COLUMN order_id platform.object_id;
COMMENT ON TABLE tickets.declines IS 'Card payments that were declined, or still may be, counted against card testing. Old rows are swept.';
COMMENT ON COLUMN tickets.declines.order_id IS 'The order whose payment is under way, and counts until its answer is known: then its rows are gone, or this is null, since it was declined. No foreign key: they are swept sooner than an order is deleted.';
CREATE INDEX declines_under_way ON tickets.declines (order_id) WHERE order_id IS NOT NULL;
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION tickets.declines_taken(addresses bytea[], cards bytea[], buyers bytea[], since timestamptz, wait boolean) RETURNS integer[] LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off -- as in tickets.places_taken
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE subject bigint;
BEGIN
    -- In one order, so that two who count the same subjects cannot deadlock.
    FOR subject IN
        SELECT DISTINCT hashtextextended('tickets.declines/' || s.name || '/' || encode(s.mac, 'hex'), 0)
        FROM unnest(addresses, cards, buyers) AS p(address, card, buyer)
        CROSS JOIN LATERAL (VALUES ('address', p.address), ('card', p.card), ('buyer', p.buyer)) AS s(name, mac) ORDER BY 1
    LOOP
        IF wait THEN
            PERFORM pg_advisory_xact_lock(subject);
        ELSIF NOT pg_try_advisory_xact_lock(subject) THEN
            RETURN NULL;
        END IF;
    END LOOP;
    RETURN (
        SELECT array_agg(x.n::integer ORDER BY p.place, s.kind, x.what)
        FROM unnest(addresses, cards, buyers) WITH ORDINALITY AS p(address, card, buyer, place)
        CROSS JOIN LATERAL (VALUES (1, 'address', p.address), (2, 'card', p.card), (3, 'buyer', p.buyer)) AS s(kind, name, mac)
        CROSS JOIN LATERAL (SELECT count(*) FILTER (WHERE d.order_id IS NULL) AS declined, count(*) AS tried
            FROM tickets.declines d WHERE d.subject = s.name AND d.mac = s.mac AND d.at > since) c
        CROSS JOIN LATERAL (VALUES (1, c.declined), (2, c.tried)) AS x(what, n));
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION tickets.declines_taken(bytea[], bytea[], bytea[], timestamptz, boolean) IS 'Two numbers for each address, card and buyer of each payment, in this order: recent declines, and those with the payments that are under way. Until the transaction ends nobody else counts any of them: whoever may not wait for that gets null. VOLATILE, so that it sees what was committed while it waited, here or for the lock of an event.';

-- +goose Down
DROP FUNCTION tickets.declines_taken(bytea[], bytea[], bytea[], timestamptz, boolean);
DROP INDEX tickets.declines_under_way;
ALTER TABLE tickets.declines DROP COLUMN order_id;
COMMENT ON TABLE tickets.declines IS 'Declined card payments, counted against card testing. Old rows are swept.';
