-- +goose Up
CREATE TABLE finance.access_ends (
    transition_id bigint PRIMARY KEY CONSTRAINT access_ends_transition_known REFERENCES subscriptions.transitions (id),
    ended_at      timestamptz NOT NULL
);
COMMENT ON TABLE finance.access_ends IS 'When access really stopped, for moves out of active that were written later than that: the job that closes an expired subscription may be late, and expires_at may move afterwards. Append-only.';
COMMENT ON COLUMN finance.access_ends.ended_at IS 'The expires_at that had passed, yet never before the access began.';

CREATE VIEW finance.movements AS
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
        WHERE t.to_status = 'active' OR t.from_status = 'active'
        UNION ALL
        SELECT 9223372036854775807, s.customer_id::text, s.id::text, 'exit', greatest(s.expires_at, e.at),
            CASE WHEN s.cancel_at_period_end THEN 'customer_cancelled' ELSE 'expired' END, false
        FROM subscriptions.subscriptions s
        JOIN LATERAL (SELECT t.at FROM subscriptions.transitions t WHERE t.subscription_id = s.id AND t.to_status = 'active' ORDER BY t.id DESC LIMIT 1) e ON true
        WHERE s.status = 'active' AND s.expires_at IS NOT NULL AND s.expires_at <= finance.now()
    ) r
    WINDOW w AS (PARTITION BY r.customer_id ORDER BY r.movement_id)
) m;

CREATE VIEW finance.entries AS
SELECT m.movement_id, m.customer_id, m.subscription_id, m.at, m.day, m.left_at IS NOT NULL AS is_return, m.left_at, m.left_reason,
    m.left_at IS NULL OR (m.left_at AT TIME ZONE z.report_tz)::date <> m.day AS counts_in_day,
    m.left_at IS NULL OR date_trunc('month', m.left_at AT TIME ZONE z.report_tz) <> date_trunc('month', m.at AT TIME ZONE z.report_tz) AS counts_in_month
FROM finance.movements m CROSS JOIN finance.settings z
WHERE m.kind = 'entry' AND NOT m.is_renewal;

CREATE VIEW finance.exits AS
SELECT m.movement_id, m.customer_id, m.subscription_id, m.at, m.day, m.reason, m.returned_at,
    m.returned_at IS NULL OR (m.returned_at AT TIME ZONE z.report_tz)::date <> m.day AS counts_in_day,
    m.returned_at IS NULL OR date_trunc('month', m.returned_at AT TIME ZONE z.report_tz) <> date_trunc('month', m.at AT TIME ZONE z.report_tz) AS counts_in_month
FROM finance.movements m CROSS JOIN finance.settings z
WHERE m.kind = 'exit' AND NOT m.is_renewal;

CREATE VIEW finance.access_periods AS
SELECT p.customer_id, p.subscription_id, p.at AS from_at, p.next_at AS until_at
FROM finance.movements p
WHERE p.kind = 'entry';

-- +goose Down
DROP VIEW finance.access_periods;
DROP VIEW finance.exits;
DROP VIEW finance.entries;
DROP VIEW finance.movements;
DROP TABLE finance.access_ends;
