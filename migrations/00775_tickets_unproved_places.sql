-- +goose Up
LOCK TABLE tickets.tickets IN SHARE ROW EXCLUSIVE MODE; -- so that nothing moves between the old counting and the new
ALTER TABLE tickets.tickets ADD COLUMN unproved boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN tickets.tickets.unproved IS 'Taken in an order by somebody signed in whose e-mail nobody had proved then: while it is unpaid it counts as a guest''s.';
COMMENT ON COLUMN tickets.events.places_unpaid_guests IS 'Of places_unpaid, those bought without a login, or by an account whose e-mail nobody had proved.';

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

-- +goose Down
LOCK TABLE tickets.tickets IN SHARE ROW EXCLUSIVE MODE;
UPDATE tickets.events e SET places_unpaid_guests = e.places_unpaid_guests - t.n
FROM (SELECT event_id, count(*) AS n FROM tickets.tickets WHERE status = 'pending' AND order_id IS NOT NULL AND unproved AND NOT without_login GROUP BY event_id) t
WHERE t.event_id = e.id;

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

COMMENT ON COLUMN tickets.events.places_unpaid_guests IS 'Of places_unpaid, those bought without a login.';
ALTER TABLE tickets.tickets DROP COLUMN unproved;
