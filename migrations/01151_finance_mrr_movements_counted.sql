-- +goose Up
-- Apart from the triggers, which hold back whoever moves a subscription: this reads every transition once, some seconds a
-- million, while they go on. Prices that plan moves left come first; transactions meanwhile write their own.
INSERT INTO finance.price_changes (subscription_id, at, transition_id, from_cents, to_cents)
SELECT m.subscription_id, m.ended_at, m.transition_id, m.from_cents, m.to_cents
FROM (
    SELECT p.subscription_id, p.ended_at, p.from_cents, p.id,
        lead(p.from_cents, 1, s.price_cents) OVER (PARTITION BY p.subscription_id ORDER BY p.ended_at, p.id) AS to_cents,
        coalesce((SELECT max(t.id) FROM subscriptions.transitions t WHERE t.subscription_id = p.subscription_id AND t.at <= p.ended_at), 0) AS transition_id
    FROM subscriptions.plan_moves p
    JOIN subscriptions.subscriptions s ON s.id = p.subscription_id
    WHERE p.state = 'done' AND p.from_cents IS NOT NULL
        AND NOT EXISTS (SELECT FROM finance.price_changes c WHERE c.subscription_id = p.subscription_id)
) m
WHERE m.from_cents <> m.to_cents
ORDER BY m.ended_at, m.id;
SELECT finance.rebuild_mrr();

-- +goose Down
DELETE FROM finance.mrr_rollup;
DELETE FROM finance.mrr_deltas;
