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
COMMENT ON FUNCTION tickets.account_added() IS 'Counts new tickets and begins their history.';
