-- The last move in a refund's history leads to its status, and each begins where the one before it ended.
SELECT r.id AS id, 'is ' || r.status || ', history says ' || coalesce(h.to_state, 'nothing') AS detail
FROM payments.refunds r
LEFT JOIN LATERAL (SELECT to_state FROM payments.refund_transitions x WHERE x.refund_id = r.id ORDER BY x.id DESC LIMIT 1) h ON true
WHERE h.to_state IS DISTINCT FROM r.status
UNION ALL
SELECT refund_id, 'move ' || move || ' begins at ' || coalesce(from_state, 'nothing') || ' after ' || coalesce(previous, 'nothing')
FROM (
    SELECT refund_id, id AS move, from_state, lag(to_state) OVER (PARTITION BY refund_id ORDER BY id) AS previous FROM payments.refund_transitions
) h
WHERE from_state IS DISTINCT FROM previous
