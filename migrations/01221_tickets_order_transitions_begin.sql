-- +goose Up

-- Where the orders from before the history stand. One that has been moved since then stood where its first move found it;
-- order and moves are of one snapshot, so that nothing is locked. 0 is before all ids.
INSERT INTO tickets.order_transitions (id, order_id, at, from_state, to_state, reason) OVERRIDING SYSTEM VALUE
SELECT 0, o.id, o.updated_at, NULL, coalesce(f.from_state, o.state), 'not_recorded'
FROM tickets.orders o
LEFT JOIN LATERAL (SELECT t.id, t.from_state FROM tickets.order_transitions t WHERE t.order_id = o.id ORDER BY t.id LIMIT 1) f ON true
WHERE f.id IS NULL OR f.from_state IS NOT NULL;

-- +goose Down
SELECT 1; -- they go with their table
