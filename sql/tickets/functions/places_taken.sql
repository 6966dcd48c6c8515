CREATE OR REPLACE FUNCTION tickets.places_taken(event text, customers text[], tax_ids bytea[], emails bytea[], addresses bytea[]) RETURNS integer[] LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off -- or a connection that plans it while the table is small reads all of it for long. So no condition but those of the indexes.
SET plan_cache_mode = force_generic_plan -- or, with the arrays' lengths in hand, the one plan that there is looks dear, and each call plans anew: half a millisecond a purchase.
AS $$
BEGIN
    RETURN (
        WITH orders AS (
            SELECT 1 AS kind, s.n, h.unpaid, h.taken FROM unnest(customers) WITH ORDINALITY AS s(subject, n) CROSS JOIN LATERAL (
                SELECT sum(quantity) FILTER (WHERE state = 'reserved') AS unpaid, sum(quantity) FILTER (WHERE state IN ('reserved', 'paid')) AS taken
                FROM tickets.orders WHERE event_id = event AND customer_id = s.subject) h
            UNION ALL SELECT 2, s.n, h.unpaid, h.taken FROM unnest(tax_ids) WITH ORDINALITY AS s(subject, n) CROSS JOIN LATERAL (
                SELECT sum(quantity) FILTER (WHERE state = 'reserved') AS unpaid, sum(quantity) FILTER (WHERE state IN ('reserved', 'paid')) AS taken
                FROM tickets.orders WHERE tax_id_mac = s.subject) h
            UNION ALL SELECT 3, s.n, h.unpaid, h.taken FROM unnest(emails) WITH ORDINALITY AS s(subject, n) CROSS JOIN LATERAL (
                SELECT sum(quantity) FILTER (WHERE state = 'reserved') AS unpaid, sum(quantity) FILTER (WHERE state IN ('reserved', 'paid')) AS taken
                FROM tickets.orders WHERE email_mac = s.subject) h
            UNION ALL SELECT 4, s.n, h.unpaid, h.taken FROM unnest(addresses) WITH ORDINALITY AS s(subject, n) CROSS JOIN LATERAL (
                SELECT sum(quantity) FILTER (WHERE state = 'reserved') AS unpaid, sum(quantity) FILTER (WHERE state IN ('reserved', 'paid')) AS taken
                FROM tickets.orders WHERE address_mac = s.subject) h
        )
        SELECT array_agg(coalesce(x.places, 0)::integer ORDER BY kind, n, x.what)
        FROM orders CROSS JOIN LATERAL (VALUES (1, unpaid), (2, taken)) AS x(what, places));
END
$$;
COMMENT ON FUNCTION tickets.places_taken(text, text[], bytea[], bytea[], bytea[]) IS 'Two numbers for each customer, tax id, e-mail and address, in this order: their unpaid places of the event, and those with the paid ones. The MACs are of the event. VOLATILE, so that it sees what was committed while the calling statement waited for the lock of the event.';
