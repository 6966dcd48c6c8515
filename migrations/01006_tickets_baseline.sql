-- +goose Up
CREATE SCHEMA tickets;
COMMENT ON SCHEMA tickets IS 'Events, their tickets, the orders of the ticket store, check-in.';

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION tickets.ends_at(event_date timestamptz, event_end_date timestamptz) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT coalesce(event_end_date, event_date + interval '3 hours')
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION tickets.ends_at(timestamptz, timestamptz) IS 'The end rule: the end, else three hours after the start. An event is over from that instant on, for listing, purchase, ticket expiry and promo codes alike.';

CREATE TABLE tickets.events (
    id                     platform.object_id PRIMARY KEY DEFAULT platform.new_object_id(),
    code                   text COLLATE "C",
    title                  text COLLATE "C" NOT NULL,
    description            text COLLATE "C" NOT NULL DEFAULT '',
    event_type             text COLLATE "C" NOT NULL DEFAULT 'other',
    event_date             timestamptz NOT NULL,
    event_end_date         timestamptz,
    ends_at                timestamptz NOT NULL GENERATED ALWAYS AS (tickets.ends_at(event_date, event_end_date)) STORED,
    location               text COLLATE "C" NOT NULL DEFAULT '',
    capacity               integer,
    tickets_issued         integer NOT NULL DEFAULT 0,
    ticket_value_cents     bigint,
    is_sale_box_office     boolean NOT NULL DEFAULT false,
    image_id               platform.object_id,
    is_active              boolean NOT NULL DEFAULT true,
    document_created_by_id platform.object_id,
    register_date          timestamptz NOT NULL DEFAULT date_trunc('milliseconds', now()),
    register_update_date   timestamptz NOT NULL DEFAULT date_trunc('milliseconds', now()),
    search                 tsvector GENERATED ALWAYS AS (
        platform.search_vector(ARRAY[code, title], 'A')
        || platform.search_vector(ARRAY[location], 'B')
        || platform.search_vector(ARRAY[description], 'C')
    ) STORED,
    max_per_person         integer CONSTRAINT events_max_per_person_positive CHECK (max_per_person >= 1),
    places_unpaid          integer NOT NULL DEFAULT 0,
    places_unpaid_guests   integer NOT NULL DEFAULT 0,
    cancelled_at           timestamptz,
    cancel_reason          text COLLATE "C",
    cancel_refund          text COLLATE "C",
    refund_until           timestamptz,
    told_event_date        timestamptz,
    told_ends_at           timestamptz,
    CONSTRAINT events_code_unique UNIQUE (code),
    CONSTRAINT events_code_upper_case CHECK (code = upper(code)),
    CONSTRAINT events_title_length CHECK (char_length(title) BETWEEN 1 AND 200),
    CONSTRAINT events_description_length CHECK (char_length(description) <= 1000),
    CONSTRAINT events_type_known CHECK (event_type IN ('movie_premiere', 'lecture', 'screening', 'other')),
    CONSTRAINT events_end_after_start CHECK (event_end_date >= event_date),
    CONSTRAINT events_capacity_not_negative CHECK (capacity >= 0),
    CONSTRAINT events_issued_not_negative CHECK (tickets_issued >= 0),
    CONSTRAINT events_value_not_negative CHECK (ticket_value_cents >= 0),
    CONSTRAINT events_ticket_value_bounded CHECK (ticket_value_cents <= 100000000),
    CONSTRAINT events_cancel_refund_known CHECK (cancel_refund IN ('all', 'on_request')),
    CONSTRAINT events_cancelled_is_closed CHECK (cancelled_at IS NULL OR NOT is_active)
);
COMMENT ON TABLE tickets.events IS 'What tickets are for.';
COMMENT ON COLUMN tickets.events.ends_at IS 'By the end rule, tickets.ends_at.';
COMMENT ON COLUMN tickets.events.capacity IS 'Null is unlimited. It may be lowered below what is issued; then nothing more is issued.';
COMMENT ON COLUMN tickets.events.tickets_issued IS 'Tickets that hold a place, kept by the trigger tickets_account of tickets.tickets.';
COMMENT ON COLUMN tickets.events.ticket_value_cents IS 'Price of one ticket; null or 0 is free.';
COMMENT ON COLUMN tickets.events.is_sale_box_office IS 'Buyable in the store.';
COMMENT ON COLUMN tickets.events.image_id IS 'A file of purpose event_image. No foreign key: an image may be replaced before its event is edited.';
COMMENT ON COLUMN tickets.events.search IS 'What GET /search/events finds an event by: code and title before the place, this before the description.';
COMMENT ON COLUMN tickets.events.max_per_person IS 'Places that one person may have, paid for or held, by orders. Null is no limit.';
COMMENT ON COLUMN tickets.events.places_unpaid IS 'Of tickets_issued, those of orders that are not paid, kept by the trigger tickets_account of tickets.tickets. No CHECK: a wrong count must not keep money from being settled.';
COMMENT ON COLUMN tickets.events.places_unpaid_guests IS 'Of places_unpaid, those bought without a login, or by an account whose e-mail nobody had proved.';
COMMENT ON COLUMN tickets.events.cancelled_at IS 'When it was called off: its tickets are good no more.';
COMMENT ON COLUMN tickets.events.cancel_refund IS 'What becomes of the money of a called off event: all is given back, or what its holders ask for until refund_until. Null while it is not called off.';
COMMENT ON COLUMN tickets.events.refund_until IS 'Until when holders may give their orders back whatever the limits of withdrawal: since it was moved, or called off on request.';
COMMENT ON COLUMN tickets.events.told_event_date IS 'The start that holders know, while moves too small to be told differ from it. Null: event_date.';
COMMENT ON COLUMN tickets.events.told_ends_at IS 'The end that holders know, as told_event_date. Null: ends_at.';
CREATE INDEX events_on_sale ON tickets.events (ends_at) WHERE is_sale_box_office AND is_active;
CREATE INDEX events_by_end ON tickets.events (ends_at);
CREATE INDEX events_by_date ON tickets.events (event_date DESC, id);
CREATE INDEX events_search ON tickets.events USING gin (search);

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION tickets.refuse_beyond_capacity() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.tickets_issued > NEW.capacity THEN
        RAISE check_violation USING MESSAGE = 'no place left', CONSTRAINT = 'events_capacity_respected';
    END IF;
    RETURN NEW;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION tickets.refuse_beyond_capacity() IS 'No ticket beyond the capacity. A trigger and no CHECK, because the capacity itself may be lowered below what is issued.';
CREATE TRIGGER events_capacity_respected BEFORE UPDATE OF tickets_issued ON tickets.events
    FOR EACH ROW WHEN (NEW.tickets_issued > OLD.tickets_issued) EXECUTE FUNCTION tickets.refuse_beyond_capacity();

CREATE TABLE tickets.orders (
    id                  platform.object_id PRIMARY KEY,
    customer_id         platform.object_id NOT NULL,
    event_id            platform.object_id NOT NULL CONSTRAINT orders_event_known REFERENCES tickets.events (id),
    quantity            integer NOT NULL,
    unit_price_cents    bigint NOT NULL,
    total_cents         bigint NOT NULL,
    gateway             text COLLATE "C",
    payment_method      text COLLATE "C",
    gateway_payment_id  text COLLATE "C",
    gateway_customer_id text COLLATE "C",
    payment_status      text COLLATE "C" NOT NULL,
    state               text COLLATE "C" NOT NULL,
    without_login       boolean NOT NULL DEFAULT false,

    pix_payload         text COLLATE "C",
    pix_image           text COLLATE "C",
    hold_until          timestamptz,
    paid_at             timestamptz,

    intent_open         boolean NOT NULL,
    recovery_tries      integer NOT NULL DEFAULT 0,
    recovery_at         timestamptz,

    created_at          timestamptz NOT NULL,
    updated_at          timestamptz NOT NULL,
    tax_id_mac          bytea,
    email_mac           bytea,
    address_mac         bytea,
    disputed_at         timestamptz,

    CONSTRAINT orders_quantity_positive CHECK (quantity >= 1),
    CONSTRAINT orders_total_is_product CHECK (total_cents = unit_price_cents * quantity AND unit_price_cents >= 0),
    CONSTRAINT orders_gateway_known CHECK (gateway IN ('gwa', 'gwb')),
    CONSTRAINT orders_payment_method_known CHECK (payment_method IN ('credit_card', 'pix')),
    CONSTRAINT orders_free_has_no_gateway CHECK ((gateway IS NULL) = (total_cents = 0) AND (payment_method IS NULL) = (gateway IS NULL)),
    CONSTRAINT orders_reserved_is_held CHECK (state <> 'reserved' OR hold_until IS NOT NULL),
    CONSTRAINT orders_intent_has_recovery CHECK (intent_open = (recovery_at IS NOT NULL)),
    CONSTRAINT orders_unit_price_bounded CHECK (unit_price_cents <= 100000000),
    CONSTRAINT orders_total_bounded CHECK (total_cents <= 100000000000),
    CONSTRAINT orders_state_known CHECK (state IN ('reserved', 'paid', 'released', 'refund_due', 'refunded', 'lost'))
);
COMMENT ON TABLE tickets.orders IS 'One row a purchase, written with its places before the gateway is called.';
COMMENT ON COLUMN tickets.orders.customer_id IS 'Kept without a foreign key: the record of what was sold outlives the customer.';
COMMENT ON COLUMN tickets.orders.unit_price_cents IS 'Price of one ticket as it was sold.';
COMMENT ON COLUMN tickets.orders.payment_status IS 'The gateway''s own word, such as CONFIRMED, RECEIVED, PENDING, succeeded, requires_action, canceled. CONFIRMED for free orders, CHARGEBACK_LOST when a dispute took the money.';
COMMENT ON COLUMN tickets.orders.state IS 'What holds here: reserved (places held, money open), paid, released (places given back unpaid), refund_due (money came and no place was left), refunded, lost (a dispute took its money). The specification''s status is always pending.';
COMMENT ON COLUMN tickets.orders.without_login IS 'Bought as a guest: hidden from the account until its address is verified.';
COMMENT ON COLUMN tickets.orders.hold_until IS 'When unpaid places are given back.';
COMMENT ON COLUMN tickets.orders.intent_open IS 'The gateway was or is being asked and its answer is not written here yet.';
COMMENT ON COLUMN tickets.orders.recovery_at IS 'When the recovery job may next ask the gateway about an open intent.';
COMMENT ON COLUMN tickets.orders.tax_id_mac IS 'Whose tax id holds the places: an HMAC of it and the event under a server key. While the order is reserved or paid and its event is not over.';
COMMENT ON COLUMN tickets.orders.email_mac IS 'The same of the e-mail.';
COMMENT ON COLUMN tickets.orders.address_mac IS 'The same of the client''s network, the IPv4 address or the /64 of an IPv6 address. While the order is reserved.';
COMMENT ON COLUMN tickets.orders.disputed_at IS 'Since when, by our clock, an open dispute of its own payment blocks its tickets. Null while none is open.';
CREATE UNIQUE INDEX orders_gateway_payment_unique ON tickets.orders (gateway, gateway_payment_id) WHERE gateway_payment_id IS NOT NULL;
CREATE INDEX orders_by_customer ON tickets.orders (customer_id, created_at DESC);
CREATE INDEX orders_by_creation ON tickets.orders (created_at DESC);
CREATE INDEX orders_held ON tickets.orders (hold_until) WHERE state = 'reserved';
CREATE INDEX orders_open_intents ON tickets.orders (recovery_at) WHERE intent_open;
CREATE INDEX orders_by_tax_id ON tickets.orders (tax_id_mac) WHERE tax_id_mac IS NOT NULL;
CREATE INDEX orders_by_email ON tickets.orders (email_mac) WHERE email_mac IS NOT NULL;
CREATE INDEX orders_by_address ON tickets.orders (address_mac) WHERE address_mac IS NOT NULL;
CREATE INDEX orders_by_event ON tickets.orders (event_id, customer_id);

CREATE TABLE tickets.customers (
    id    platform.object_id PRIMARY KEY,
    name  text COLLATE "C" NOT NULL,
    email text COLLATE "C" NOT NULL
);
COMMENT ON TABLE tickets.customers IS 'Names of the customers who have tickets, as the module accounts told them last, so that tickets can be filtered and sorted by them.';

CREATE TABLE tickets.tickets (
    id                     platform.object_id PRIMARY KEY DEFAULT platform.new_object_id(),
    event_id               platform.object_id NOT NULL CONSTRAINT tickets_event_known REFERENCES tickets.events (id),
    customer_id            platform.object_id NOT NULL CONSTRAINT tickets_customer_known REFERENCES tickets.customers (id),
    order_id               platform.object_id CONSTRAINT tickets_order_known REFERENCES tickets.orders (id),
    title                  text COLLATE "C" NOT NULL,
    description            text COLLATE "C",
    status                 text COLLATE "C" NOT NULL,
    holds_place            boolean NOT NULL DEFAULT true,
    reason                 text COLLATE "C" NOT NULL,
    actor_id               platform.object_id,
    without_login          boolean NOT NULL DEFAULT false,
    promo_code_id          platform.object_id,
    promo_code             text COLLATE "C",
    consumed_at            timestamptz,
    consume_nonce          text COLLATE "C",
    image_id               platform.object_id,
    document_created_by_id platform.object_id,
    register_date          timestamptz NOT NULL DEFAULT date_trunc('milliseconds', now()),
    register_update_date   timestamptz NOT NULL DEFAULT date_trunc('milliseconds', now()),
    search                 tsvector GENERATED ALWAYS AS (
        platform.search_vector(ARRAY[title, promo_code], 'A')
        || CASE WHEN description IS NULL THEN ''::tsvector ELSE platform.search_vector(ARRAY[description], 'C') END
    ) STORED,
    unproved               boolean NOT NULL DEFAULT false,
    refund_id              platform.object_id,
    refund_asked_at        timestamptz,
    refunded_at            timestamptz,
    CONSTRAINT tickets_title_length CHECK (char_length(title) BETWEEN 1 AND 200),
    CONSTRAINT tickets_status_known CHECK (status IN ('pending', 'available', 'consumed', 'expired')),
    CONSTRAINT tickets_only_expired_give_back CHECK (holds_place OR status = 'expired'),
    CONSTRAINT tickets_consumed_has_instant CHECK ((status = 'consumed') = (consumed_at IS NOT NULL)),
    CONSTRAINT tickets_refund_has_instant CHECK ((refund_id IS NULL) = (refund_asked_at IS NULL)),
    CONSTRAINT tickets_refunded_by_refund CHECK (refunded_at IS NULL OR refund_id IS NOT NULL)
);
COMMENT ON TABLE tickets.tickets IS 'Tickets, whoever issued them: an order, a promo code (promo_code_id), or an admin.';
COMMENT ON COLUMN tickets.tickets.holds_place IS 'Counts in the event''s tickets_issued. False once it expired unpaid, or its money went back or was lost to a dispute while it was not used.';
COMMENT ON COLUMN tickets.tickets.reason IS 'Why it has its status; goes into tickets.transitions.';
COMMENT ON COLUMN tickets.tickets.actor_id IS 'Who moved it there; null for gateways and jobs.';
COMMENT ON COLUMN tickets.tickets.without_login IS 'As in its order.';
COMMENT ON COLUMN tickets.tickets.promo_code_id IS 'No foreign key: promo codes belong to an upper module.';
COMMENT ON COLUMN tickets.tickets.consume_nonce IS 'Told by the device that consumed it, so that it may repeat itself.';
COMMENT ON COLUMN tickets.tickets.search IS 'What GET /search/tickets finds a ticket by: title and promo code before the description. People are found by /search/customers, and their tickets by customer_id.';
COMMENT ON COLUMN tickets.tickets.unproved IS 'Taken in an order by somebody signed in whose e-mail nobody had proved then: while it is unpaid it counts as a guest''s.';
COMMENT ON COLUMN tickets.tickets.refund_id IS 'The refund that gives its share of the order''s money back, from the request on; null again when the refund failed. No foreign key: the ledger is of the module payments.';
COMMENT ON COLUMN tickets.tickets.refund_asked_at IS 'When refund_id was set: the ticket is good no more.';
COMMENT ON COLUMN tickets.tickets.refunded_at IS 'When refund_id was known to be done: its share is back. A consumed ticket keeps status and place.';
CREATE INDEX tickets_by_customer ON tickets.tickets (customer_id, register_date DESC);
CREATE INDEX tickets_by_order ON tickets.tickets (order_id) WHERE order_id IS NOT NULL;
CREATE INDEX tickets_by_event ON tickets.tickets (event_id, status);
CREATE INDEX tickets_by_update ON tickets.tickets (register_update_date DESC, id);
CREATE INDEX tickets_live_by_event ON tickets.tickets (event_id) WHERE status IN ('pending', 'available');
CREATE INDEX tickets_by_promo_code ON tickets.tickets (promo_code_id) WHERE promo_code_id IS NOT NULL;
CREATE INDEX tickets_search ON tickets.tickets USING gin (search);
CREATE INDEX tickets_by_refund ON tickets.tickets (refund_id) WHERE refund_id IS NOT NULL;

CREATE TABLE tickets.transitions (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    ticket_id   platform.object_id NOT NULL,
    event_id    platform.object_id NOT NULL,
    at          timestamptz NOT NULL,
    from_status text COLLATE "C",
    to_status   text COLLATE "C" NOT NULL,
    reason      text COLLATE "C" NOT NULL,
    actor_id    platform.object_id,
    CONSTRAINT transitions_to_known CHECK (to_status IN ('pending', 'available', 'consumed', 'expired', 'deleted')),
    CONSTRAINT transitions_moves CHECK (from_status IS DISTINCT FROM to_status)
);
COMMENT ON TABLE tickets.transitions IS 'Every change of a ticket''s status, append-only, written by the trigger tickets_account. It outlives the ticket: deleted tickets are revoked at the doors.';
COMMENT ON COLUMN tickets.transitions.from_status IS 'Null for the row that began the ticket.';
CREATE INDEX transitions_by_ticket ON tickets.transitions (ticket_id, id);
CREATE INDEX transitions_of_deleted ON tickets.transitions (event_id) WHERE to_status = 'deleted';

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION tickets.account_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM tickets.count_places(array_agg(event_id::text), array_agg(n), array_agg(u), array_agg(g)) FROM (
        SELECT event_id, count(*) FILTER (WHERE holds_place) AS n, count(*) FILTER (WHERE status = 'pending' AND order_id IS NOT NULL) AS u,
            count(*) FILTER (WHERE status = 'pending' AND order_id IS NOT NULL AND (without_login OR unproved)) AS g
        FROM added GROUP BY event_id) c HAVING count(*) > 0;
    INSERT INTO tickets.transitions (ticket_id, event_id, at, from_status, to_status, reason, actor_id)
    SELECT id, event_id, register_update_date, NULL, status, reason, actor_id FROM added;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION tickets.account_added() IS 'Counts new tickets and begins their history.';
CREATE TRIGGER tickets_account_added AFTER INSERT ON tickets.tickets
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION tickets.account_added();

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION tickets.account_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM tickets.count_places(array_agg(event_id::text), array_agg(n), array_agg(u), array_agg(g)) FROM (
        SELECT event_id, coalesce(sum(sign) FILTER (WHERE holds_place), 0)::bigint AS n,
            coalesce(sum(sign) FILTER (WHERE status = 'pending' AND order_id IS NOT NULL), 0)::bigint AS u,
            coalesce(sum(sign) FILTER (WHERE status = 'pending' AND order_id IS NOT NULL AND (without_login OR unproved)), 0)::bigint AS g
        FROM (
            SELECT event_id, holds_place, status, order_id, without_login, unproved, 1 AS sign FROM after_change
            UNION ALL SELECT event_id, holds_place, status, order_id, without_login, unproved, -1 FROM before_change) both_sides
        GROUP BY event_id) c HAVING count(*) > 0;
    INSERT INTO tickets.transitions (ticket_id, event_id, at, from_status, to_status, reason, actor_id)
    SELECT a.id, a.event_id, a.register_update_date, b.status, a.status, a.reason, a.actor_id
    FROM after_change a JOIN before_change b ON b.id = a.id WHERE a.status <> b.status;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION tickets.account_changed() IS 'Keeps counters and history when tickets move.';
CREATE TRIGGER tickets_account_changed AFTER UPDATE ON tickets.tickets
    REFERENCING OLD TABLE AS before_change NEW TABLE AS after_change FOR EACH STATEMENT EXECUTE FUNCTION tickets.account_changed();

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION tickets.account_removed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM tickets.count_places(array_agg(event_id::text), array_agg(-n), array_agg(-u), array_agg(-g)) FROM (
        SELECT event_id, count(*) FILTER (WHERE holds_place) AS n, count(*) FILTER (WHERE status = 'pending' AND order_id IS NOT NULL) AS u,
            count(*) FILTER (WHERE status = 'pending' AND order_id IS NOT NULL AND (without_login OR unproved)) AS g
        FROM removed GROUP BY event_id) c HAVING count(*) > 0;
    INSERT INTO tickets.transitions (ticket_id, event_id, at, from_status, to_status, reason, actor_id)
    SELECT id, event_id, date_trunc('milliseconds', clock_timestamp()), status, 'deleted', 'deleted', NULL FROM removed;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION tickets.account_removed() IS 'Takes deleted tickets out of the counters and notes them as revoked.';
CREATE TRIGGER tickets_account_removed AFTER DELETE ON tickets.tickets
    REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION tickets.account_removed();

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION tickets.settle_status() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.status = 'consumed' THEN
        NEW.consumed_at := coalesce(NEW.consumed_at, NEW.register_update_date);
    ELSE
        NEW.consumed_at := NULL;
        NEW.consume_nonce := NULL;
    END IF;
    IF NEW.status <> 'expired' THEN
        NEW.holds_place := true;
    ELSIF OLD.status = 'pending' OR NEW.refunded_at IS NOT NULL
        OR EXISTS (SELECT FROM tickets.orders o WHERE o.id = NEW.order_id AND o.state IN ('refunded', 'refund_due', 'lost')) THEN
        NEW.holds_place := false;
    END IF;
    RETURN NEW;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION tickets.settle_status() IS 'What follows from a new status, whoever sets it: the instant of consumption, and the place, which a ticket gives back that expires unpaid, or whose money is gone.';
CREATE TRIGGER tickets_settle_status BEFORE UPDATE ON tickets.tickets
    FOR EACH ROW WHEN (OLD.status <> NEW.status) EXECUTE FUNCTION tickets.settle_status();

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION tickets.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'tickets.transitions is append-only' USING ERRCODE = 'restrict_violation';
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION tickets.refuse_change() IS 'Keeps the history append-only, also against people at psql.';
CREATE TRIGGER transitions_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON tickets.transitions
    FOR EACH STATEMENT EXECUTE FUNCTION tickets.refuse_change();

CREATE TABLE tickets.declines (
    id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    subject text COLLATE "C" NOT NULL,
    mac     bytea NOT NULL,
    at      timestamptz NOT NULL,
    CONSTRAINT declines_subject_known CHECK (subject IN ('address', 'card', 'buyer'))
);
COMMENT ON TABLE tickets.declines IS 'Declined card payments, counted against card testing. Old rows are swept.';
COMMENT ON COLUMN tickets.declines.mac IS 'HMAC-SHA-256 of the client address, the card number or token, or the buyer''s e-mail, under a server key: none of them stands here.';
CREATE INDEX declines_by_subject ON tickets.declines (subject, mac, at);
CREATE INDEX declines_by_age ON tickets.declines (at);

CREATE TABLE tickets.deleted_orders (
    id                 platform.object_id PRIMARY KEY,
    customer_id        platform.object_id NOT NULL,
    gateway            text NOT NULL,
    gateway_payment_id text,
    deleted_at         timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT deleted_orders_gateway_known CHECK (gateway IN ('gwa', 'gwb'))
);
COMMENT ON TABLE tickets.deleted_orders IS 'Unpaid orders that were deleted with their event, as far as a gateway knows them: money that arrives for one of them all the same is given back.';
COMMENT ON COLUMN tickets.deleted_orders.customer_id IS 'Kept without a foreign key, as in the ledger: it outlives the customer.';
CREATE UNIQUE INDEX deleted_orders_gateway_payment_unique ON tickets.deleted_orders (gateway, gateway_payment_id) WHERE gateway_payment_id IS NOT NULL;

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION tickets.keep_deleted_order() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO tickets.deleted_orders (id, customer_id, gateway, gateway_payment_id)
    VALUES (OLD.id, OLD.customer_id, OLD.gateway, OLD.gateway_payment_id) ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION tickets.keep_deleted_order() IS 'Keeps what a gateway calls an order by, whoever deletes it.';
CREATE TRIGGER orders_deleted_are_kept AFTER DELETE ON tickets.orders
    FOR EACH ROW WHEN (OLD.gateway IS NOT NULL) EXECUTE FUNCTION tickets.keep_deleted_order();

-- +goose StatementBegin
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
-- +goose StatementEnd
COMMENT ON FUNCTION tickets.count_places(text[], bigint[], bigint[], bigint[]) IS 'Adds to the counters of events, each named once: places held, of these unpaid, of these guests''.';

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION tickets.held_by(event text, customers text[], tax_ids bytea[], emails bytea[], addresses bytea[]) RETURNS integer[] LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off -- or a connection that plans it while the table is small reads all of it for long. So no condition but those of the indexes.
SET plan_cache_mode = force_generic_plan -- or, with the arrays' lengths in hand, the one plan that there is looks dear, and each call plans anew: half a millisecond a purchase.
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

CREATE OR REPLACE FUNCTION tickets.blocked(status text, refund_id text, disputed_at timestamptz, cancelled_at timestamptz) RETURNS text LANGUAGE sql IMMUTABLE
RETURN CASE WHEN status NOT IN ('pending', 'available') THEN NULL
    WHEN refund_id IS NOT NULL THEN 'refund_requested'
    WHEN cancelled_at IS NOT NULL THEN 'event_cancelled'
    WHEN disputed_at IS NOT NULL THEN 'payment_disputed' END;
COMMENT ON FUNCTION tickets.blocked(text, text, timestamptz, timestamptz) IS 'Why a ticket that is neither used nor expired opens no door: by its own status and refund_id, its order''s disputed_at, its event''s cancelled_at. Null when nothing blocks it.';

CREATE TABLE tickets.give_backs (
    order_id   platform.object_id PRIMARY KEY CONSTRAINT give_backs_order_known REFERENCES tickets.orders (id) ON DELETE CASCADE,
    event_id   platform.object_id NOT NULL CONSTRAINT give_backs_event_known REFERENCES tickets.events (id) ON DELETE CASCADE,
    why        text COLLATE "C" NOT NULL CONSTRAINT give_backs_why_known CHECK (why IN ('withdrawn', 'event_moved', 'event_cancelled')),
    asked_at   timestamptz,
    refund_id  platform.object_id,
    failed_at  timestamptz,
    tries      integer NOT NULL DEFAULT 0,
    next_at    timestamptz,
    created_at timestamptz NOT NULL
);
COMMENT ON TABLE tickets.give_backs IS 'Orders whose whole money goes back: their buyer withdrew, or their event was moved or called off. What became of it stands in the order and in the ledger of refunds.';
COMMENT ON COLUMN tickets.give_backs.asked_at IS 'Since when it is to go back. Null while the buyer may ask for it.';
COMMENT ON COLUMN tickets.give_backs.refund_id IS 'The refund that was asked for; null again when it came to nothing. No foreign key: the ledger is of the module payments.';
COMMENT ON COLUMN tickets.give_backs.failed_at IS 'When its gateway refused: it stands on the list of unapplied payments, for people.';
COMMENT ON COLUMN tickets.give_backs.next_at IS 'Not before is it tried again.';
CREATE INDEX give_backs_by_event ON tickets.give_backs (event_id);
CREATE INDEX give_backs_due ON tickets.give_backs (created_at) WHERE asked_at IS NOT NULL AND refund_id IS NULL AND failed_at IS NULL;

CREATE TABLE tickets.past_blocks (
    order_id  platform.object_id NOT NULL CONSTRAINT past_blocks_order_known REFERENCES tickets.orders (id) ON DELETE CASCADE,
    ticket_id platform.object_id CONSTRAINT past_blocks_ticket_known REFERENCES tickets.tickets (id) ON DELETE CASCADE,
    reason    text COLLATE "C" NOT NULL CONSTRAINT past_blocks_reason_known CHECK (reason IN ('payment_disputed', 'refund_requested')),
    since     timestamptz NOT NULL,
    until     timestamptz NOT NULL
);
COMMENT ON TABLE tickets.past_blocks IS 'What once kept tickets from opening a door, and does so no more. What does so now stands in the ticket, its order and its event.';
COMMENT ON COLUMN tickets.past_blocks.ticket_id IS 'The one ticket that it was about. Null: all tickets of the order.';
COMMENT ON COLUMN tickets.past_blocks.until IS 'The first instant at which it did so no more.';
CREATE INDEX past_blocks_by_order ON tickets.past_blocks (order_id);
CREATE INDEX past_blocks_by_ticket ON tickets.past_blocks (ticket_id) WHERE ticket_id IS NOT NULL;

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION tickets.keep_ended_dispute() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO tickets.past_blocks (order_id, reason, since, until) VALUES (OLD.id, 'payment_disputed', OLD.disputed_at, NEW.updated_at);
    RETURN NULL;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION tickets.keep_ended_dispute() IS 'Keeps from when to when a dispute blocked an order''s tickets, whoever notes its end.';
CREATE TRIGGER orders_ended_disputes_are_kept AFTER UPDATE OF disputed_at ON tickets.orders
    FOR EACH ROW WHEN (OLD.disputed_at IS NOT NULL AND NEW.disputed_at IS NULL) EXECUTE FUNCTION tickets.keep_ended_dispute();

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION tickets.keep_ended_request() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO tickets.past_blocks (order_id, ticket_id, reason, since, until)
    VALUES (OLD.order_id, OLD.id, 'refund_requested', OLD.refund_asked_at, NEW.register_update_date);
    RETURN NULL;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION tickets.keep_ended_request() IS 'Keeps from when to when a refund that came to nothing blocked a ticket, whoever notes its end.';
CREATE TRIGGER tickets_ended_requests_are_kept AFTER UPDATE OF refund_asked_at ON tickets.tickets
    FOR EACH ROW WHEN (OLD.refund_asked_at IS NOT NULL AND NEW.refund_asked_at IS NULL AND OLD.order_id IS NOT NULL) EXECUTE FUNCTION tickets.keep_ended_request();

-- +goose Down
DROP SCHEMA tickets CASCADE;
