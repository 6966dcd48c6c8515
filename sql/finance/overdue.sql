-- name: OverdueReportGet :one
-- A page of the overdue, the longest first, and the totals of all pages. The day on
-- which the page's last row is due is found by index first; then only rows due by
-- that day are put in order.
WITH clock AS MATERIALIZED (
    SELECT c.now, c.today, c.report_tz FROM finance.clock c
), past AS MATERIALIZED (
    SELECT (d.next_billing_date AT TIME ZONE (SELECT report_tz FROM clock))::date AS day FROM finance.dues d
    WHERE d.next_billing_date < (SELECT now FROM clock) ORDER BY d.next_billing_date LIMIT sqlc.arg('start')::bigint + sqlc.arg('size')::bigint
), due AS MATERIALIZED (
    SELECT x.day FROM (
        SELECT past.day FROM past
        UNION ALL
        (SELECT d.otherwise_on FROM finance.dues d
         WHERE d.otherwise_on <= (SELECT CASE WHEN count(*) < sqlc.arg('start')::bigint + sqlc.arg('size')::bigint THEN 'infinity'::date ELSE max(past.day) END FROM past)
           AND (d.next_billing_date >= (SELECT now FROM clock)) IS NOT FALSE
         ORDER BY d.otherwise_on LIMIT sqlc.arg('start')::bigint + sqlc.arg('size')::bigint)
    ) x ORDER BY x.day LIMIT sqlc.arg('start')::bigint + sqlc.arg('size')::bigint
), last AS MATERIALIZED (
    -- Those that are not due yet stand together, at 0 days.
    SELECT CASE WHEN count(*) < sqlc.arg('start')::bigint + sqlc.arg('size')::bigint OR max(due.day) >= (SELECT today FROM clock) THEN 'infinity'::date ELSE max(due.day) END AS day FROM due
), page AS MATERIALIZED (
    SELECT p.subscription_id FROM (
        SELECT d.subscription_id, (d.next_billing_date AT TIME ZONE (SELECT report_tz FROM clock))::date AS day FROM finance.dues d
        WHERE d.next_billing_date < (SELECT now FROM clock)
          AND d.next_billing_date < (SELECT (last.day + 1)::timestamp AT TIME ZONE clock.report_tz FROM last CROSS JOIN clock)
        UNION ALL
        SELECT d.subscription_id, d.otherwise_on FROM finance.dues d
        WHERE d.otherwise_on <= (SELECT day FROM last) AND (d.next_billing_date >= (SELECT now FROM clock)) IS NOT FALSE
    ) p
    ORDER BY least(p.day, (SELECT today FROM clock)), p.subscription_id LIMIT sqlc.arg('size')::bigint OFFSET sqlc.arg('start')::bigint
)
SELECT json_build_object(
    'total_overdue', (SELECT coalesce(sum(s.overdue), 0)::bigint FROM finance.standing s),
    'total_amount_at_risk', (SELECT coalesce(sum(s.at_risk_cents), 0)::bigint FROM finance.standing s),
    'customers', (
        SELECT coalesce(json_agg(json_build_object(
            'customer_id', p.customer_id, 'username', coalesce(c.username, ''), 'email', coalesce(c.email, ''), 'full_name', coalesce(c.full_name, ''),
            'plan_id', p.plan_id, 'plan_name', p.plan_name, 'gateway', p.gateway, 'payment_method', p.payment_method, 'payment_failures', p.payment_failures,
            'last_payment_at', platform.json_time(p.last_payment_at), 'next_billing_date', platform.json_time(p.next_billing_date),
            'days_overdue', p.days_overdue, 'subscription_status', p.subscription_status, 'amount', p.amount_cents
        ) ORDER BY p.days_overdue DESC, p.subscription_id), '[]')
        FROM page JOIN finance.overdue p ON p.subscription_id = page.subscription_id
        LEFT JOIN finance.customers_personal c ON c.customer_id = p.customer_id)
)::json AS report;
