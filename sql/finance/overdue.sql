-- name: OverdueReport :one
-- A page of the overdue, the longest first, and the totals of all pages.
SELECT json_build_object(
    'total_overdue', count(*),
    'total_amount_at_risk', coalesce(sum(o.amount_cents), 0)::bigint,
    'customers', (
        SELECT coalesce(json_agg(json_build_object(
            'customer_id', p.customer_id, 'username', coalesce(c.username, ''), 'email', coalesce(c.email, ''), 'full_name', coalesce(c.full_name, ''),
            'plan_id', p.plan_id, 'plan_name', p.plan_name, 'gateway', p.gateway, 'payment_method', p.payment_method, 'payment_failures', p.payment_failures,
            'last_payment_at', platform.json_time(p.last_payment_at), 'next_billing_date', platform.json_time(p.next_billing_date),
            'days_overdue', p.days_overdue, 'subscription_status', p.subscription_status, 'amount', p.amount_cents
        ) ORDER BY p.days_overdue DESC, p.subscription_id), '[]')
        FROM (SELECT * FROM finance.overdue ORDER BY days_overdue DESC, subscription_id LIMIT sqlc.arg('size')::int OFFSET sqlc.arg('start')::int) p
        LEFT JOIN finance.customers_personal c ON c.customer_id = p.customer_id)
)::json AS report
FROM finance.overdue o;
