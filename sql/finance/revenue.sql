-- name: RevenueListByDay :many
-- Every day of the period, also those on which nothing happened.
SELECT to_char(k.day, 'YYYY-MM-DD')::text AS date, coalesce(f.gross_cents, 0)::bigint AS gross_cents, coalesce(f.refunds_cents, 0)::bigint AS refunds_cents,
    coalesce(f.chargebacks_cents, 0)::bigint AS chargebacks_cents, coalesce(f.net_cents, 0)::bigint AS net_cents,
    coalesce(f.new_subscriptions, 0)::bigint AS new_subscriptions, coalesce(f.cancellations, 0)::bigint AS cancellations,
    coalesce(f.gross_gwa_cents, 0)::bigint AS gross_gwa_cents, coalesce(f.gross_gwb_cents, 0)::bigint AS gross_gwb_cents
FROM finance.clock c
CROSS JOIN LATERAL generate_series(
    coalesce(sqlc.narg(first_day)::date, date_trunc('month', c.today::timestamp) - interval '6 months')::timestamp,
    coalesce(sqlc.narg(last_day)::date, c.today)::timestamp, interval '1 day') AS k (day)
LEFT JOIN finance.revenue_daily f ON f.day = k.day::date
    AND f.day >= (SELECT coalesce(sqlc.narg(first_day)::date, date_trunc('month', b.today::timestamp) - interval '6 months')::date FROM finance.clock b)
    AND f.day <= (SELECT coalesce(sqlc.narg(last_day)::date, b.today) FROM finance.clock b)
ORDER BY k.day;

-- name: RevenueListByMonth :many
-- Every month that holds a day of the period, whole.
SELECT to_char(k.month, 'YYYY-MM')::text AS date, coalesce(f.gross_cents, 0)::bigint AS gross_cents, coalesce(f.refunds_cents, 0)::bigint AS refunds_cents,
    coalesce(f.chargebacks_cents, 0)::bigint AS chargebacks_cents, coalesce(f.net_cents, 0)::bigint AS net_cents,
    coalesce(f.new_subscriptions, 0)::bigint AS new_subscriptions, coalesce(f.cancellations, 0)::bigint AS cancellations,
    coalesce(f.gross_gwa_cents, 0)::bigint AS gross_gwa_cents, coalesce(f.gross_gwb_cents, 0)::bigint AS gross_gwb_cents
FROM finance.clock c
CROSS JOIN LATERAL generate_series(
    date_trunc('month', coalesce(sqlc.narg(first_day)::date::timestamp, c.today::timestamp - interval '6 months')),
    coalesce(sqlc.narg(last_day)::date, c.today)::timestamp, interval '1 month') AS k (month)
LEFT JOIN finance.revenue_monthly f ON f.month = k.month::date
ORDER BY k.month;

-- name: RevenueListByMethod :many
-- Gross by payment method, of the days or months of the pattern on which something was paid.
SELECT to_char(p.settled_on, sqlc.arg(pattern)::text)::text AS date, p.payment_method::text AS payment_method, sum(p.amount_cents)::bigint AS gross_cents
FROM finance.payments p
WHERE p.purpose = 'subscription'
    AND p.settled_at >= (SELECT sqlc.arg(first_day)::date::timestamp AT TIME ZONE z.report_tz FROM finance.settings z)
    AND p.settled_at < (SELECT sqlc.arg(end_day)::date::timestamp AT TIME ZONE z.report_tz FROM finance.settings z) -- not included
GROUP BY 1, 2
ORDER BY 1, 2;
