CREATE OR REPLACE FUNCTION tickets.count_places(events text[], changes bigint[], unpaid bigint[], guests bigint[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE change record;
BEGIN
    -- In the order of ids, so that two statements over the same events cannot deadlock.
    FOR change IN SELECT event, n, u, g FROM unnest(events, changes, unpaid, guests) AS c(event, n, u, g) WHERE (n, u, g) <> (0, 0, 0) ORDER BY event LOOP
        UPDATE tickets.events SET tickets_issued = tickets_issued + change.n, places_unpaid = places_unpaid + change.u,
            places_unpaid_guests = places_unpaid_guests + change.g
        WHERE id = change.event;
    END LOOP;
END
$$;
COMMENT ON FUNCTION tickets.count_places(text[], bigint[], bigint[], bigint[]) IS 'Adds to the counters of events, each named once: places held, of these unpaid, of these guests''.';
