-- The last move in a dispute's history leads to its state, and each begins where the one before it ended.
SELECT d.id AS id, 'is ' || d.state || ', history says ' || coalesce(h.to_state, 'nothing') AS detail
FROM payments.disputes d
LEFT JOIN LATERAL (SELECT to_state FROM payments.dispute_transitions x WHERE x.dispute_id = d.id ORDER BY x.id DESC LIMIT 1) h ON true
WHERE h.to_state IS DISTINCT FROM d.state
UNION ALL
SELECT dispute_id, 'move ' || move || ' begins at ' || coalesce(from_state, 'nothing') || ' after ' || coalesce(previous, 'nothing')
FROM (
    SELECT dispute_id, id AS move, from_state, lag(to_state) OVER (PARTITION BY dispute_id ORDER BY id) AS previous FROM payments.dispute_transitions
) h
WHERE from_state IS DISTINCT FROM previous
