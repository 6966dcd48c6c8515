-- name: HomeGet :one
-- HomeGet is what holds now, and what adds up over this month so far, of it today, and over the same days of the month
-- before. Its parts are those of the overview and of the revenue by day.
SELECT o.mrr_cents, o.active_subscriptions, o.overdue_count,
    coalesce(sum(d.new_subscriptions) FILTER (WHERE d.day >= m.began), 0)::bigint AS new,
    coalesce(sum(d.new_subscriptions) FILTER (WHERE d.day = m.today), 0)::bigint AS new_today,
    coalesce(sum(d.new_subscriptions) FILTER (WHERE d.day < m.began), 0)::bigint AS new_before,
    coalesce(sum(d.cancellations) FILTER (WHERE d.day >= m.began), 0)::bigint AS cancelled,
    coalesce(sum(d.cancellations) FILTER (WHERE d.day = m.today), 0)::bigint AS cancelled_today,
    coalesce(sum(d.cancellations) FILTER (WHERE d.day < m.began), 0)::bigint AS cancelled_before,
    coalesce(sum(d.net_cents) FILTER (WHERE d.day >= m.began), 0)::bigint AS net_cents,
    coalesce(sum(d.net_cents) FILTER (WHERE d.day = m.today), 0)::bigint AS net_today_cents,
    coalesce(sum(d.net_cents) FILTER (WHERE d.day < m.began), 0)::bigint AS net_before_cents
FROM finance.overview o
CROSS JOIN (
    SELECT c.today, date_trunc('month', c.today::timestamp)::date AS began,
        (date_trunc('month', c.today::timestamp) - interval '1 month')::date AS before_began
    FROM finance.clock c OFFSET 0
) m
LEFT JOIN finance.revenue_daily d ON d.day >= m.before_began AND d.day <= m.today
    AND (d.day >= m.began OR d.day - m.before_began <= m.today - m.began)
GROUP BY o.mrr_cents, o.active_subscriptions, o.overdue_count;
