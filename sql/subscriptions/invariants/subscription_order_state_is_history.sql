-- The last move in the history of an order beside a subscription leads to its state, and each begins where the one before it ended.
SELECT o.subscription_id AS id, o.kind || ' ' || o.item || ' is ' || o.state || ', history says ' || coalesce(h.to_state, 'nothing') AS detail
FROM (
    SELECT subscription_id, 'renewal_charge' AS kind, id::text AS item, state FROM subscriptions.renewal_charges
    UNION ALL SELECT subscription_id, 'plan_move', id::text, state FROM subscriptions.plan_moves
    UNION ALL SELECT subscription_id, 'charge_move', id::text, state FROM subscriptions.charge_moves
    UNION ALL SELECT subscription_id, 'pause', id::text, state FROM subscriptions.pauses
    UNION ALL SELECT subscription_id, 'debit_retry', to_char(cycle, 'YYYY-MM-DD/') || to_char(retry_date, 'YYYY-MM-DD'), state FROM subscriptions.debit_retries
) o
LEFT JOIN LATERAL (
    SELECT to_state FROM subscriptions.order_transitions x
    WHERE x.subscription_id = o.subscription_id AND x.kind = o.kind AND x.item = o.item ORDER BY x.id DESC LIMIT 1) h ON true
WHERE h.to_state IS DISTINCT FROM o.state
UNION ALL
SELECT subscription_id, kind || ' ' || item || ': move ' || move || ' begins at ' || coalesce(from_state, 'nothing') || ' after ' || coalesce(previous, 'nothing')
FROM (
    SELECT subscription_id, kind, item, id AS move, from_state, lag(to_state) OVER (PARTITION BY subscription_id, kind, item ORDER BY id) AS previous
    FROM subscriptions.order_transitions
) h
WHERE from_state IS DISTINCT FROM previous
