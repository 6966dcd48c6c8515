CREATE OR REPLACE VIEW finance.tenure AS
SELECT a.customer_id::text AS customer_id, a.first_at AS first_access_at,
    CASE WHEN a.open_at IS NULL OR x.ended_at IS NOT NULL THEN greatest(a.last_until, x.ended_at) END AS last_access_at,
    a.open_at IS NOT NULL AND x.ended_at IS NULL AS is_active,
    (a.closed_us + CASE WHEN a.open_at IS NULL THEN 0 ELSE finance.microseconds(a.open_at, coalesce(x.ended_at, c.now)) END) / 86400000000 AS access_days
FROM finance.customer_access a
CROSS JOIN (SELECT k.now FROM finance.clock k OFFSET 0) c
LEFT JOIN (SELECT s.customer_id, greatest(s.expires_at, e.at) AS ended_at
    FROM subscriptions.subscriptions s
    JOIN LATERAL (SELECT t.at FROM subscriptions.transitions t WHERE t.subscription_id = s.id AND t.to_status = 'active' ORDER BY t.id DESC LIMIT 1) e ON true
    WHERE s.status = 'active' AND s.expires_at IS NOT NULL AND s.expires_at <= finance.now()) x ON x.customer_id = a.customer_id;
COMMENT ON VIEW finance.tenure IS 'How long each customer who ever had access has had it; exact at any moment. Source: what the moves of subscriptions left behind, a row a customer.';
COMMENT ON COLUMN finance.tenure.customer_id IS 'The customer.';
COMMENT ON COLUMN finance.tenure.first_access_at IS 'When access first began, UTC.';
COMMENT ON COLUMN finance.tenure.last_access_at IS 'When it last stopped, UTC; null while it lasts.';
COMMENT ON COLUMN finance.tenure.is_active IS 'Has access now.';
COMMENT ON COLUMN finance.tenure.access_days IS 'Whole days of access, gaps left out.';
