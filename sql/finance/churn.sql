-- name: ChurnListByMonth :many
-- The last months, the present one among them; before the first day all is 0.
SELECT to_char(k.month, 'YYYY-MM')::text AS month, coalesce(f.active_start, 0)::bigint AS active_start, coalesce(f.new_customers, 0)::bigint AS new_customers,
    coalesce(f.cancelled, 0)::bigint AS cancelled, coalesce(f.active_end, 0)::bigint AS active_end, coalesce(f.churn_rate, 0)::float8 AS churn_rate,
    coalesce(f.payment_failure, 0)::bigint AS payment_failure, coalesce(f.customer_cancelled, 0)::bigint AS customer_cancelled,
    coalesce(f.admin_cancelled, 0)::bigint AS admin_cancelled, coalesce(f.chargeback, 0)::bigint AS chargeback, coalesce(f.expired, 0)::bigint AS expired
FROM finance.clock c
CROSS JOIN LATERAL generate_series(
    date_trunc('month', c.today::timestamp) - make_interval(months => sqlc.arg(months)::integer - 1), date_trunc('month', c.today::timestamp), interval '1 month') AS k (month)
LEFT JOIN finance.churn_monthly f ON f.month = k.month::date
ORDER BY k.month;
