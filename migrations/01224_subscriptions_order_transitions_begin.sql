-- +goose Up

-- Where the orders from before the history stand. One that has been moved since then stood where its first move found it;
-- order and moves are of one snapshot, so that nothing is locked. 0 is before all ids.
INSERT INTO subscriptions.order_transitions (id, subscription_id, kind, item, at, to_state, action) OVERRIDING SYSTEM VALUE
SELECT 0, o.subscription_id, o.kind, o.item, o.at, coalesce(f.from_state, o.state), 'not_recorded'
FROM (
    SELECT subscription_id, 'renewal_charge' AS kind, id::text AS item, state, register_update_date AS at FROM subscriptions.renewal_charges
    UNION ALL SELECT subscription_id, 'plan_move', id::text, state, coalesce(ended_at, register_date) FROM subscriptions.plan_moves
    UNION ALL SELECT subscription_id, 'charge_move', id::text, state, coalesce(ended_at, register_date) FROM subscriptions.charge_moves
    UNION ALL SELECT subscription_id, 'pause', id::text, state, coalesce(ended_at, paused_at, register_date) FROM subscriptions.pauses
    UNION ALL SELECT subscription_id, 'debit_retry', to_char(cycle, 'YYYY-MM-DD') || '/' || to_char(retry_date, 'YYYY-MM-DD'), state,
        coalesce(ended_at, ordered_at, register_date) FROM subscriptions.debit_retries
) o
LEFT JOIN LATERAL (
    SELECT t.id, t.from_state FROM subscriptions.order_transitions t
    WHERE t.subscription_id = o.subscription_id AND t.kind = o.kind AND t.item = o.item ORDER BY t.id LIMIT 1) f ON true
WHERE f.id IS NULL OR f.from_state IS NOT NULL;

-- +goose Down
SELECT 1; -- they go with their table
