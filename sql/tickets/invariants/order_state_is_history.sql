-- The last move in an order's history leads to its state, and each begins where the one before it ended.
SELECT o.id AS id, 'is ' || o.state || ', history says ' || coalesce(h.to_state, 'nothing') AS detail
FROM tickets.orders o
LEFT JOIN LATERAL (SELECT to_state FROM tickets.order_transitions x WHERE x.order_id = o.id ORDER BY x.id DESC LIMIT 1) h ON true
WHERE h.to_state IS DISTINCT FROM o.state
UNION ALL
SELECT order_id, 'move ' || move || ' begins at ' || coalesce(from_state, 'nothing') || ' after ' || coalesce(previous, 'nothing')
FROM (
    SELECT order_id, id AS move, from_state, lag(to_state) OVER (PARTITION BY order_id ORDER BY id) AS previous FROM tickets.order_transitions
) h
WHERE from_state IS DISTINCT FROM previous
