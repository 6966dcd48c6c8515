-- +goose Up
ALTER TABLE tickets.orders
    ADD COLUMN tax_id_mac bytea,
    ADD COLUMN email_mac bytea,
    ADD COLUMN address_mac bytea;
COMMENT ON COLUMN tickets.orders.tax_id_mac IS 'Whose tax id holds the places: an HMAC of it and the event under a server key. While the order is reserved or paid and its event is not over.';
COMMENT ON COLUMN tickets.orders.email_mac IS 'The same of the e-mail.';
COMMENT ON COLUMN tickets.orders.address_mac IS 'The same of the client''s network, the IPv4 address or the /64 of an IPv6 address. While the order is reserved.';

CREATE INDEX orders_by_tax_id ON tickets.orders (tax_id_mac) WHERE tax_id_mac IS NOT NULL;
CREATE INDEX orders_by_email ON tickets.orders (email_mac) WHERE email_mac IS NOT NULL;
CREATE INDEX orders_by_address ON tickets.orders (address_mac) WHERE address_mac IS NOT NULL;
DROP INDEX tickets.orders_by_event;
CREATE INDEX orders_by_event ON tickets.orders (event_id, customer_id);

-- +goose StatementBegin
CREATE FUNCTION tickets.held_by(event text, customers text[], tax_ids bytea[], emails bytea[], addresses bytea[]) RETURNS integer[] LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off -- or a connection that plans it while the table is small reads all of it for long. So no condition but those of the indexes.
AS $$
BEGIN
    RETURN (
        WITH held AS (
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
        FROM held CROSS JOIN LATERAL (VALUES (1, unpaid), (2, taken)) AS x(what, places));
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION tickets.held_by(text, text[], bytea[], bytea[], bytea[]) IS 'Two numbers for each customer, tax id, e-mail and address, in this order: their unpaid places of the event, and those with the paid ones. The MACs are of the event. VOLATILE, so that it sees what was committed while the calling statement waited for the lock of the event.';

-- +goose Down
DROP FUNCTION tickets.held_by(text, text[], bytea[], bytea[], bytea[]);
ALTER TABLE tickets.orders DROP COLUMN tax_id_mac, DROP COLUMN email_mac, DROP COLUMN address_mac;
DROP INDEX tickets.orders_by_event;
CREATE INDEX orders_by_event ON tickets.orders (event_id);
