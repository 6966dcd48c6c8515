-- The last move in a ticket's history leads to its status, and each begins where the one before it ended.
SELECT t.id AS id, 'is ' || t.status || ', history says ' || coalesce(h.to_status, 'nothing') AS detail
FROM tickets.tickets t
LEFT JOIN LATERAL (SELECT to_status FROM tickets.transitions x WHERE x.ticket_id = t.id ORDER BY x.id DESC LIMIT 1) h ON true
WHERE h.to_status IS DISTINCT FROM t.status
UNION ALL
SELECT ticket_id, 'move ' || move || ' begins at ' || coalesce(from_status, 'nothing') || ' after ' || coalesce(previous, 'nothing')
FROM (
    SELECT ticket_id, id AS move, from_status, lag(to_status) OVER (PARTITION BY ticket_id ORDER BY id) AS previous FROM tickets.transitions
) h
WHERE from_status IS DISTINCT FROM previous
