CREATE OR REPLACE VIEW finance.movements AS
SELECT m.movement_id, m.customer_id, m.subscription_id, m.kind, m.at, (m.at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS day,
    CASE WHEN m.kind = 'exit' THEN finance.exit_reason(m.reason) END AS reason,
    CASE m.kind
        WHEN 'entry' THEN coalesce(m.by_renewal AND m.before_reason = 'replaced' AND m.before_subscription <> m.subscription_id, false)
        ELSE coalesce(m.reason = 'replaced' AND m.after_by_renewal AND m.after_subscription <> m.subscription_id, false)
    END AS is_renewal,
    CASE WHEN m.kind = 'entry' AND m.before_subscription = m.subscription_id THEN m.before_at END AS left_at,
    CASE WHEN m.kind = 'entry' AND m.before_subscription = m.subscription_id THEN finance.exit_reason(m.before_reason) END AS left_reason,
    CASE WHEN m.kind = 'exit' AND m.after_subscription = m.subscription_id THEN m.after_at END AS returned_at,
    m.after_at AS next_at
FROM (
    SELECT r.*,
        lag(r.subscription_id) OVER w AS before_subscription, lag(r.reason) OVER w AS before_reason, lag(r.at) OVER w AS before_at,
        lead(r.subscription_id) OVER w AS after_subscription, lead(r.by_renewal) OVER w AS after_by_renewal, lead(r.at) OVER w AS after_at
    FROM (
        SELECT t.id AS movement_id, t.customer_id::text AS customer_id, t.subscription_id::text AS subscription_id,
            CASE WHEN t.to_status = 'active' THEN 'entry' ELSE 'exit' END AS kind, coalesce(a.ended_at, t.at) AS at, t.reason::text AS reason,
            b.subscription_id IS NOT NULL AS by_renewal
        FROM subscriptions.transitions t
        LEFT JOIN finance.access_ends a ON a.transition_id = t.id
        LEFT JOIN subscriptions.transitions b ON b.subscription_id = t.subscription_id AND b.reason = 'renewed' AND b.from_status IS NULL
        WHERE (t.to_status = 'active' OR t.from_status = 'active') AND t.reason <> 'chargeback_withdrawn'
            AND NOT (t.from_status = 'active' AND EXISTS (
                SELECT FROM subscriptions.transitions v
                WHERE v.subscription_id = t.subscription_id AND v.reason = 'chargeback_withdrawn' AND v.id > t.id AND NOT EXISTS (
                    SELECT FROM subscriptions.transitions n WHERE n.subscription_id = t.subscription_id AND n.id > t.id AND n.id < v.id)))
        UNION ALL
        SELECT 9223372036854775807, s.customer_id::text, s.id::text, 'exit', greatest(s.expires_at, e.at),
            CASE WHEN s.cancel_at_period_end THEN 'customer_cancelled' ELSE 'expired' END, false
        FROM subscriptions.subscriptions s
        JOIN LATERAL (SELECT t.at FROM subscriptions.transitions t WHERE t.subscription_id = s.id AND t.to_status = 'active' ORDER BY t.id DESC LIMIT 1) e ON true
        WHERE s.status = 'active' AND s.expires_at IS NOT NULL AND s.expires_at <= finance.now()
    ) r
    WINDOW w AS (PARTITION BY r.customer_id ORDER BY r.movement_id)
) m;
COMMENT ON VIEW finance.movements IS 'Every beginning and end of a customers access, one row each, alternating for each customer; but for what a chargeback entered by mistake ended and its withdrawal began again. Source: subscriptions.transitions into and out of active, finance.access_ends, and subscriptions whose expires_at has passed while their row is still active.';
COMMENT ON COLUMN finance.movements.movement_id IS 'Order in time: the id of the transition; 9223372036854775807 for access that has ended by its date while the row is not closed yet.';
COMMENT ON COLUMN finance.movements.customer_id IS 'The customer (finance.customers); stays when they are deleted.';
COMMENT ON COLUMN finance.movements.subscription_id IS 'The subscription (finance.subscriptions); null when it is not about one.';
COMMENT ON COLUMN finance.movements.kind IS 'entry (access begins) or exit (access stops).';
COMMENT ON COLUMN finance.movements.at IS 'When access began or stopped, UTC: an expired one stops at its expires_at, however late its row is closed.';
COMMENT ON COLUMN finance.movements.day IS 'Day of at in the report time zone.';
COMMENT ON COLUMN finance.movements.reason IS 'Of exits: payment_failure, customer_cancelled, admin_cancelled, chargeback or expired; null for entries.';
COMMENT ON COLUMN finance.movements.is_renewal IS 'The exit of a subscription replaced by a renewal that was paid, or the entry of that renewal: neither is counted.';
COMMENT ON COLUMN finance.movements.left_at IS 'Of the entry of a subscription that comes back: when its access had stopped; null for others.';
COMMENT ON COLUMN finance.movements.left_reason IS 'Why it had stopped.';
COMMENT ON COLUMN finance.movements.returned_at IS 'Of an exit whose subscription came back: when; null for others.';
COMMENT ON COLUMN finance.movements.next_at IS 'The customer''s next movement; null for their last.';
