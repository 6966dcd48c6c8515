-- name: OverviewGet :one
SELECT mrr_cents, mrr_gwa_cents, mrr_gwb_cents, trial_mrr_cents, arr_cents::bigint AS arr_cents, average_ticket_cents, active_subscriptions, trials, total_customers,
    overdue_count, amount_at_risk_cents, churn_rate_30d::float8 AS churn_rate_30d, total_refunded_cents, total_chargebacks_cents,
    net_revenue_30d_cents::bigint AS net_revenue_30d_cents, cash_net_30d_cents::bigint AS cash_net_30d_cents, payment_success_rate::float8 AS payment_success_rate,
    at_risk_rate::float8 AS at_risk_rate
FROM finance.overview;

-- name: MRRList :many
SELECT gateway::text AS gateway, payment_method::text AS payment_method, plan_id::text AS plan_id, plan_name::text AS plan_name,
    active_subscriptions::bigint AS active_subscriptions, mrr_cents::bigint AS mrr_cents
FROM finance.mrr
WHERE active_subscriptions <> 0
ORDER BY plan_id, payment_method, gateway;
