-- +goose Up
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
    CONSTRAINT tickets_title_length CHECK (char_length(title) BETWEEN 1 AND 200),
    CONSTRAINT tickets_status_known CHECK (status IN ('pending', 'available', 'consumed', 'expired')),
    CONSTRAINT tickets_only_expired_give_back CHECK (holds_place OR status = 'expired'),
    CONSTRAINT tickets_consumed_has_instant CHECK ((status = 'consumed') = (consumed_at IS NOT NULL))
);
COMMENT ON TABLE tickets.tickets IS 'Tickets, whoever issued them: an order, a promo code (promo_code_id), or an admin.';
COMMENT ON COLUMN tickets.tickets.holds_place IS 'Counts in the event''s tickets_issued. False once it expired unpaid.';
COMMENT ON COLUMN tickets.tickets.reason IS 'Why it has its status; goes into tickets.transitions.';
COMMENT ON COLUMN tickets.tickets.actor_id IS 'Who moved it there; null for gateways and jobs.';
COMMENT ON COLUMN tickets.tickets.without_login IS 'As in its order.';
COMMENT ON COLUMN tickets.tickets.promo_code_id IS 'No foreign key: promo codes belong to an upper module.';
COMMENT ON COLUMN tickets.tickets.consume_nonce IS 'Told by the device that consumed it, so that it may repeat itself.';

CREATE INDEX tickets_by_customer ON tickets.tickets (customer_id, register_date DESC);
CREATE INDEX tickets_by_order ON tickets.tickets (order_id) WHERE order_id IS NOT NULL;
CREATE INDEX tickets_by_event ON tickets.tickets (event_id, status);
CREATE INDEX tickets_by_update ON tickets.tickets (register_update_date DESC, id);
CREATE INDEX tickets_live_by_event ON tickets.tickets (event_id) WHERE status IN ('pending', 'available');
CREATE INDEX tickets_by_promo_code ON tickets.tickets (promo_code_id) WHERE promo_code_id IS NOT NULL;

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
CREATE FUNCTION tickets.count_places(events text[], changes bigint[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE change record;
BEGIN
    -- In the order of ids, so that two statements over the same events cannot deadlock.
    FOR change IN SELECT event, sum(n) AS n FROM unnest(events, changes) AS c(event, n) GROUP BY event HAVING sum(n) <> 0 ORDER BY event LOOP
        UPDATE tickets.events SET tickets_issued = tickets_issued + change.n WHERE id = change.event;
    END LOOP;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION tickets.count_places(text[], bigint[]) IS 'Adds to the counters of events.';

-- +goose StatementBegin
CREATE FUNCTION tickets.account_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM tickets.count_places(array_agg(event_id::text), array_agg(n)) FROM (
        SELECT event_id, count(*) AS n FROM added WHERE holds_place GROUP BY event_id) c HAVING count(*) > 0;
    INSERT INTO tickets.transitions (ticket_id, event_id, at, from_status, to_status, reason, actor_id)
    SELECT id, event_id, register_update_date, NULL, status, reason, actor_id FROM added;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION tickets.account_added() IS 'Counts new tickets and begins their history.';

-- +goose StatementBegin
CREATE FUNCTION tickets.account_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM tickets.count_places(array_agg(event_id::text), array_agg(n)) FROM (
        SELECT event_id, sum(n) AS n FROM (
            SELECT event_id, 1 AS n FROM after_change WHERE holds_place
            UNION ALL SELECT event_id, -1 FROM before_change WHERE holds_place) both_sides
        GROUP BY event_id HAVING sum(n) <> 0) c HAVING count(*) > 0;
    INSERT INTO tickets.transitions (ticket_id, event_id, at, from_status, to_status, reason, actor_id)
    SELECT a.id, a.event_id, a.register_update_date, b.status, a.status, a.reason, a.actor_id
    FROM after_change a JOIN before_change b ON b.id = a.id WHERE a.status <> b.status;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION tickets.account_changed() IS 'Keeps counters and history when tickets move.';

-- +goose StatementBegin
CREATE FUNCTION tickets.account_removed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM tickets.count_places(array_agg(event_id::text), array_agg(-n)) FROM (
        SELECT event_id, count(*) AS n FROM removed WHERE holds_place GROUP BY event_id) c HAVING count(*) > 0;
    INSERT INTO tickets.transitions (ticket_id, event_id, at, from_status, to_status, reason, actor_id)
    SELECT id, event_id, date_trunc('milliseconds', clock_timestamp()), status, 'deleted', 'deleted', NULL FROM removed;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION tickets.account_removed() IS 'Takes deleted tickets out of the counters and notes them as revoked.';

CREATE TRIGGER tickets_account_added AFTER INSERT ON tickets.tickets
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION tickets.account_added();
CREATE TRIGGER tickets_account_changed AFTER UPDATE ON tickets.tickets
    REFERENCING OLD TABLE AS before_change NEW TABLE AS after_change FOR EACH STATEMENT EXECUTE FUNCTION tickets.account_changed();
CREATE TRIGGER tickets_account_removed AFTER DELETE ON tickets.tickets
    REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION tickets.account_removed();

-- +goose StatementBegin
CREATE FUNCTION tickets.settle_status() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.status = 'consumed' THEN
        NEW.consumed_at := coalesce(NEW.consumed_at, NEW.register_update_date);
    ELSE
        NEW.consumed_at := NULL;
        NEW.consume_nonce := NULL;
    END IF;
    IF NEW.status <> 'expired' THEN
        NEW.holds_place := true;
    ELSIF OLD.status = 'pending' THEN
        NEW.holds_place := false;
    END IF;
    RETURN NEW;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION tickets.settle_status() IS 'What follows from a new status, whoever sets it: the instant of consumption, and the place, which a ticket that expires unpaid gives back.';
CREATE TRIGGER tickets_settle_status BEFORE UPDATE ON tickets.tickets
    FOR EACH ROW WHEN (OLD.status <> NEW.status) EXECUTE FUNCTION tickets.settle_status();

-- +goose StatementBegin
CREATE FUNCTION tickets.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'tickets.transitions is append-only' USING ERRCODE = 'restrict_violation';
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION tickets.refuse_change() IS 'Keeps the history append-only, also against people at psql.';
CREATE TRIGGER transitions_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON tickets.transitions
    FOR EACH STATEMENT EXECUTE FUNCTION tickets.refuse_change();

-- +goose Down
DROP TABLE tickets.transitions;
DROP FUNCTION tickets.refuse_change();
DROP TABLE tickets.tickets;
DROP FUNCTION tickets.settle_status();
DROP FUNCTION tickets.account_removed();
DROP FUNCTION tickets.account_changed();
DROP FUNCTION tickets.account_added();
DROP FUNCTION tickets.count_places(text[], bigint[]);
DROP TABLE tickets.customers;
