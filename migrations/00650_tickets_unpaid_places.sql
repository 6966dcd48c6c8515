-- +goose Up
LOCK TABLE tickets.tickets IN SHARE ROW EXCLUSIVE MODE; -- so that nothing moves between the new counters and what keeps them

ALTER TABLE tickets.events
    ADD COLUMN max_per_person integer CONSTRAINT events_max_per_person_positive CHECK (max_per_person >= 1),
    ADD COLUMN places_unpaid integer NOT NULL DEFAULT 0,
    ADD COLUMN places_unpaid_guests integer NOT NULL DEFAULT 0;
COMMENT ON COLUMN tickets.events.max_per_person IS 'Places that one person may have, paid for or held, by orders. Null is no limit.';
COMMENT ON COLUMN tickets.events.places_unpaid IS 'Of tickets_issued, those of orders that are not paid, kept by the trigger tickets_account of tickets.tickets. No CHECK: a wrong count must not keep money from being settled.';
COMMENT ON COLUMN tickets.events.places_unpaid_guests IS 'Of places_unpaid, those bought without a login.';

DROP FUNCTION tickets.count_places(text[], bigint[]);
-- +goose StatementBegin
CREATE FUNCTION tickets.count_places(events text[], changes bigint[], unpaid bigint[], guests bigint[]) RETURNS void LANGUAGE plpgsql AS $$
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
CREATE OR REPLACE FUNCTION tickets.account_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM tickets.count_places(array_agg(event_id::text), array_agg(n), array_agg(u), array_agg(g)) FROM (
        SELECT event_id, count(*) FILTER (WHERE holds_place) AS n, count(*) FILTER (WHERE status = 'pending' AND order_id IS NOT NULL) AS u,
            count(*) FILTER (WHERE status = 'pending' AND order_id IS NOT NULL AND without_login) AS g
        FROM added GROUP BY event_id) c HAVING count(*) > 0;
    INSERT INTO tickets.transitions (ticket_id, event_id, at, from_status, to_status, reason, actor_id)
    SELECT id, event_id, register_update_date, NULL, status, reason, actor_id FROM added;
    RETURN NULL;
END
$$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION tickets.account_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM tickets.count_places(array_agg(event_id::text), array_agg(n), array_agg(u), array_agg(g)) FROM (
        SELECT event_id, coalesce(sum(sign) FILTER (WHERE holds_place), 0)::bigint AS n,
            coalesce(sum(sign) FILTER (WHERE status = 'pending' AND order_id IS NOT NULL), 0)::bigint AS u,
            coalesce(sum(sign) FILTER (WHERE status = 'pending' AND order_id IS NOT NULL AND without_login), 0)::bigint AS g
        FROM (
            SELECT event_id, holds_place, status, order_id, without_login, 1 AS sign FROM after_change
            UNION ALL SELECT event_id, holds_place, status, order_id, without_login, -1 FROM before_change) both_sides
        GROUP BY event_id) c HAVING count(*) > 0;
    INSERT INTO tickets.transitions (ticket_id, event_id, at, from_status, to_status, reason, actor_id)
    SELECT a.id, a.event_id, a.register_update_date, b.status, a.status, a.reason, a.actor_id
    FROM after_change a JOIN before_change b ON b.id = a.id WHERE a.status <> b.status;
    RETURN NULL;
END
$$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION tickets.account_removed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM tickets.count_places(array_agg(event_id::text), array_agg(-n), array_agg(-u), array_agg(-g)) FROM (
        SELECT event_id, count(*) FILTER (WHERE holds_place) AS n, count(*) FILTER (WHERE status = 'pending' AND order_id IS NOT NULL) AS u,
            count(*) FILTER (WHERE status = 'pending' AND order_id IS NOT NULL AND without_login) AS g
        FROM removed GROUP BY event_id) c HAVING count(*) > 0;
    INSERT INTO tickets.transitions (ticket_id, event_id, at, from_status, to_status, reason, actor_id)
    SELECT id, event_id, date_trunc('milliseconds', clock_timestamp()), status, 'deleted', 'deleted', NULL FROM removed;
    RETURN NULL;
END
$$;
-- +goose StatementEnd

UPDATE tickets.events e SET places_unpaid = t.u, places_unpaid_guests = t.g
FROM (SELECT event_id, count(*) AS u, count(*) FILTER (WHERE without_login) AS g FROM tickets.tickets
    WHERE status = 'pending' AND order_id IS NOT NULL GROUP BY event_id) t
WHERE t.event_id = e.id;

-- +goose Down
LOCK TABLE tickets.tickets IN SHARE ROW EXCLUSIVE MODE;
DROP FUNCTION tickets.count_places(text[], bigint[], bigint[], bigint[]);
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
CREATE OR REPLACE FUNCTION tickets.account_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM tickets.count_places(array_agg(event_id::text), array_agg(n)) FROM (
        SELECT event_id, count(*) AS n FROM added WHERE holds_place GROUP BY event_id) c HAVING count(*) > 0;
    INSERT INTO tickets.transitions (ticket_id, event_id, at, from_status, to_status, reason, actor_id)
    SELECT id, event_id, register_update_date, NULL, status, reason, actor_id FROM added;
    RETURN NULL;
END
$$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION tickets.account_changed() RETURNS trigger LANGUAGE plpgsql AS $$
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

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION tickets.account_removed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM tickets.count_places(array_agg(event_id::text), array_agg(-n)) FROM (
        SELECT event_id, count(*) AS n FROM removed WHERE holds_place GROUP BY event_id) c HAVING count(*) > 0;
    INSERT INTO tickets.transitions (ticket_id, event_id, at, from_status, to_status, reason, actor_id)
    SELECT id, event_id, date_trunc('milliseconds', clock_timestamp()), status, 'deleted', 'deleted', NULL FROM removed;
    RETURN NULL;
END
$$;
-- +goose StatementEnd

ALTER TABLE tickets.events DROP COLUMN max_per_person, DROP COLUMN places_unpaid, DROP COLUMN places_unpaid_guests;
