-- +goose Up

-- Where the refunds from before the history stand. One that has been moved since then stood where its first move found
-- it; refund and moves are of one snapshot, so that nothing is locked. 0 is before all ids.
INSERT INTO payments.refund_transitions (id, refund_id, at, to_state, action) OVERRIDING SYSTEM VALUE
SELECT 0, r.id, r.updated_at, coalesce(f.from_state, r.status), 'not_recorded'
FROM payments.refunds r
LEFT JOIN LATERAL (SELECT t.id, t.from_state FROM payments.refund_transitions t WHERE t.refund_id = r.id ORDER BY t.id LIMIT 1) f ON true
WHERE f.id IS NULL OR f.from_state IS NOT NULL;

-- +goose Down
SELECT 1; -- they go with their table
