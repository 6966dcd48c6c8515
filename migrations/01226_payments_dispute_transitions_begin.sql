-- +goose Up

-- Where the disputes from before the history stand. One that has been moved since then stood where its first move found
-- it; dispute and moves are of one snapshot, so that nothing is locked. 0 is before all ids.
INSERT INTO payments.dispute_transitions (id, dispute_id, at, to_state, action) OVERRIDING SYSTEM VALUE
SELECT 0, d.id, d.updated_at, coalesce(f.from_state, d.state), 'not_recorded'
FROM payments.disputes d
LEFT JOIN LATERAL (SELECT t.id, t.from_state FROM payments.dispute_transitions t WHERE t.dispute_id = d.id ORDER BY t.id LIMIT 1) f ON true
WHERE f.id IS NULL OR f.from_state IS NOT NULL;

-- +goose Down
SELECT 1; -- they go with their table
