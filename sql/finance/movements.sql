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
