-- name: MovementListByMonth :many
-- The last months, the present one among them; before the first day all is 0.
SELECT to_char(k.month, 'YYYY-MM')::text AS month, coalesce(f.opening_cents, 0)::bigint AS opening_cents, coalesce(f.new_cents, 0)::bigint AS new_cents,
    coalesce(f.expansion_cents, 0)::bigint AS expansion_cents, coalesce(f.reactivation_cents, 0)::bigint AS reactivation_cents,
    coalesce(f.contraction_cents, 0)::bigint AS contraction_cents, coalesce(f.churn_cents, 0)::bigint AS churn_cents,
    coalesce(f.closing_cents, 0)::bigint AS closing_cents
FROM finance.clock c
CROSS JOIN LATERAL generate_series(
    date_trunc('month', c.today::timestamp) - make_interval(months => sqlc.arg(months)::integer - 1), date_trunc('month', c.today::timestamp), interval '1 month') AS k (month)
LEFT JOIN finance.mrr_movements f ON f.month = k.month::date
ORDER BY k.month;

-- name: MovementRowsGet :one
-- A page of the changes behind movements, the newest first, and the totals of all pages; of one kind, of new and reactivation
-- as gained, or of all where it is empty.
WITH changes AS MATERIALIZED (
    SELECT c.* FROM finance.mrr_changes_between(date_trunc('month', sqlc.arg(first_day)::date)::date, date_trunc('month', sqlc.arg(last_day)::date)::date) c
    WHERE sqlc.arg(kind)::text IN ('', c.kind) OR sqlc.arg(kind)::text = 'gained' AND c.kind IN ('new', 'reactivation')
), page AS MATERIALIZED (
    SELECT c.*, row_number() OVER (ORDER BY c.at DESC, c.subscription_id, c.kind, c.before_cents, c.after_cents) AS place FROM changes c
    ORDER BY place LIMIT sqlc.arg('size')::bigint OFFSET sqlc.arg('start')::bigint
)
SELECT json_build_object(
    'total', (SELECT count(*) FROM changes), 'total_amount', (SELECT coalesce(sum(c.change_cents), 0)::bigint FROM changes c),
    'movements', (
        SELECT coalesce(json_agg(json_build_object(
            'at', platform.json_time(p.at), 'kind', p.kind, 'customer_id', p.customer_id, 'username', coalesce(c.username, ''), 'email', coalesce(c.email, ''),
            'full_name', coalesce(c.full_name, ''), 'subscription_id', p.subscription_id, 'plan_id', s.plan_id, 'plan_name', s.plan_name, 'gateway', s.gateway,
            'payment_method', s.payment_method, 'reason', p.reason, 'before', p.before_cents, 'after', p.after_cents, 'amount', p.change_cents
        ) ORDER BY p.place), '[]')
        FROM page p JOIN finance.subscriptions s ON s.subscription_id = p.subscription_id
        LEFT JOIN finance.customers_personal c ON c.customer_id = p.customer_id)
)::json AS report;
