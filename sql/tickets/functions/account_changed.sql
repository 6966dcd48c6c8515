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
COMMENT ON FUNCTION tickets.account_changed() IS 'Keeps counters and history when tickets move.';
