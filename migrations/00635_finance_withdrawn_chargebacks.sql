-- +goose Up
-- A chargeback that an admin entered by mistake and withdrew is no exit, and its end no
-- return: the figures are as if there had been none.
CREATE INDEX transitions_of_withdrawals ON subscriptions.transitions (subscription_id, id) WHERE reason = 'chargeback_withdrawn';
COMMENT ON INDEX subscriptions.transitions_of_withdrawals IS 'Moves that undo the one before them.';

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

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION finance.note_transition() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    ended timestamptz;
    first_entry timestamptz;
    before record;
BEGIN
    SELECT t.at INTO first_entry FROM subscriptions.transitions t
    WHERE t.customer_id = NEW.customer_id AND t.to_status = 'active' AND t.id <= NEW.id ORDER BY t.id LIMIT 1;
    IF NEW.from_status = 'active' THEN
        SELECT greatest(s.expires_at, e.at) INTO ended
        FROM subscriptions.subscriptions s
        JOIN LATERAL (SELECT t.at FROM subscriptions.transitions t
            WHERE t.subscription_id = s.id AND t.to_status = 'active' AND t.id < NEW.id ORDER BY t.id DESC LIMIT 1) e ON true
        WHERE s.id = NEW.subscription_id AND s.expires_at < NEW.at;
        IF ended < NEW.at THEN
            INSERT INTO finance.access_ends (transition_id, ended_at) VALUES (NEW.id, ended);
        END IF;
        ended := least(ended, NEW.at);
        INSERT INTO finance.daily_deltas (at, first_at, reason, exits) VALUES (ended, first_entry, finance.exit_reason(NEW.reason), 1);
        UPDATE finance.customer_access a
        SET closed_us = a.closed_us + finance.microseconds(a.open_at, ended), last_until = greatest(a.last_until, ended), open_at = NULL
        WHERE a.customer_id = NEW.customer_id AND a.open_at IS NOT NULL;
        RETURN NULL;
    END IF;
    IF NEW.reason = 'chargeback_withdrawn' THEN
        SELECT coalesce(a.ended_at, t.at) AS at, t.reason INTO before
        FROM subscriptions.transitions t LEFT JOIN finance.access_ends a ON a.transition_id = t.id
        WHERE t.subscription_id = NEW.subscription_id AND t.id < NEW.id ORDER BY t.id DESC LIMIT 1;
        INSERT INTO finance.daily_deltas (at, first_at, reason, exits) VALUES (before.at, first_entry, finance.exit_reason(before.reason), -1);
        UPDATE finance.customer_access a SET closed_us = c.closed_us, last_until = c.last_until, open_at = c.open_at
        FROM (
            SELECT coalesce(sum(finance.microseconds(p.at, p.next_at)) FILTER (WHERE p.closed), 0)::bigint AS closed_us,
                max(p.next_at) FILTER (WHERE p.closed) AS last_until, max(p.at) FILTER (WHERE NOT p.closed) AS open_at
            FROM (
                SELECT m.kind, m.at, m.next_at, lead(m.movement_id) OVER (ORDER BY m.movement_id) < 9223372036854775807 IS TRUE AS closed
                FROM finance.movements m WHERE m.customer_id = NEW.customer_id
            ) p
            WHERE p.kind = 'entry'
        ) c
        WHERE a.customer_id = NEW.customer_id;
        RETURN NULL;
    END IF;
    INSERT INTO finance.customer_access AS a (customer_id, first_at, open_at) VALUES (NEW.customer_id, NEW.at, NEW.at)
    ON CONFLICT (customer_id) DO UPDATE
    SET closed_us = a.closed_us + CASE WHEN a.open_at IS NULL THEN 0 ELSE finance.microseconds(a.open_at, NEW.at) END,
        last_until = CASE WHEN a.open_at IS NULL THEN a.last_until ELSE greatest(a.last_until, NEW.at) END,
        first_at = least(a.first_at, NEW.at), open_at = NEW.at;
    SELECT t.subscription_id, t.reason, coalesce(a.ended_at, t.at) AS at INTO before
    FROM subscriptions.transitions t LEFT JOIN finance.access_ends a ON a.transition_id = t.id
    WHERE t.customer_id = NEW.customer_id AND t.id < NEW.id AND (t.from_status = 'active' OR t.to_status = 'active')
    ORDER BY t.id DESC LIMIT 1;
    IF before.subscription_id = NEW.subscription_id THEN
        INSERT INTO finance.daily_deltas (at, first_at, left_at, reason, entries) VALUES (NEW.at, first_entry, before.at, finance.exit_reason(before.reason), 1);
    ELSIF before.reason = 'replaced' AND EXISTS (
        SELECT FROM subscriptions.transitions b WHERE b.subscription_id = NEW.subscription_id AND b.reason = 'renewed' AND b.from_status IS NULL)
    THEN
        INSERT INTO finance.daily_deltas (at, first_at, reason, exits) VALUES (before.at, first_entry, finance.exit_reason(before.reason), -1);
    ELSE
        INSERT INTO finance.daily_deltas (at, first_at, entries, firsts) VALUES (NEW.at, first_entry, 1, (before.subscription_id IS NULL)::int);
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION finance.note_transition() IS 'Writes what a move into or out of active means for the figures by day; finance.movements says the same of all rows. A renewal that is paid undoes the exit of what it replaced, and a chargeback that is withdrawn the exit that it was.';

-- +goose Down
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION finance.note_transition() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    ended timestamptz;
    first_entry timestamptz;
    before record;
BEGIN
    SELECT t.at INTO first_entry FROM subscriptions.transitions t
    WHERE t.customer_id = NEW.customer_id AND t.to_status = 'active' AND t.id <= NEW.id ORDER BY t.id LIMIT 1;
    IF NEW.from_status = 'active' THEN
        SELECT greatest(s.expires_at, e.at) INTO ended
        FROM subscriptions.subscriptions s
        JOIN LATERAL (SELECT t.at FROM subscriptions.transitions t
            WHERE t.subscription_id = s.id AND t.to_status = 'active' AND t.id < NEW.id ORDER BY t.id DESC LIMIT 1) e ON true
        WHERE s.id = NEW.subscription_id AND s.expires_at < NEW.at;
        IF ended < NEW.at THEN
            INSERT INTO finance.access_ends (transition_id, ended_at) VALUES (NEW.id, ended);
        END IF;
        ended := least(ended, NEW.at);
        INSERT INTO finance.daily_deltas (at, first_at, reason, exits) VALUES (ended, first_entry, finance.exit_reason(NEW.reason), 1);
        UPDATE finance.customer_access a
        SET closed_us = a.closed_us + finance.microseconds(a.open_at, ended), last_until = greatest(a.last_until, ended), open_at = NULL
        WHERE a.customer_id = NEW.customer_id AND a.open_at IS NOT NULL;
        RETURN NULL;
    END IF;
    INSERT INTO finance.customer_access AS a (customer_id, first_at, open_at) VALUES (NEW.customer_id, NEW.at, NEW.at)
    ON CONFLICT (customer_id) DO UPDATE
    SET closed_us = a.closed_us + CASE WHEN a.open_at IS NULL THEN 0 ELSE finance.microseconds(a.open_at, NEW.at) END,
        last_until = CASE WHEN a.open_at IS NULL THEN a.last_until ELSE greatest(a.last_until, NEW.at) END,
        first_at = least(a.first_at, NEW.at), open_at = NEW.at;
    SELECT t.subscription_id, t.reason, coalesce(a.ended_at, t.at) AS at INTO before
    FROM subscriptions.transitions t LEFT JOIN finance.access_ends a ON a.transition_id = t.id
    WHERE t.customer_id = NEW.customer_id AND t.id < NEW.id AND (t.from_status = 'active' OR t.to_status = 'active')
    ORDER BY t.id DESC LIMIT 1;
    IF before.subscription_id = NEW.subscription_id THEN
        INSERT INTO finance.daily_deltas (at, first_at, left_at, reason, entries) VALUES (NEW.at, first_entry, before.at, finance.exit_reason(before.reason), 1);
    ELSIF before.reason = 'replaced' AND EXISTS (
        SELECT FROM subscriptions.transitions b WHERE b.subscription_id = NEW.subscription_id AND b.reason = 'renewed' AND b.from_status IS NULL)
    THEN
        INSERT INTO finance.daily_deltas (at, first_at, reason, exits) VALUES (before.at, first_entry, finance.exit_reason(before.reason), -1);
    ELSE
        INSERT INTO finance.daily_deltas (at, first_at, entries, firsts) VALUES (NEW.at, first_entry, 1, (before.subscription_id IS NULL)::int);
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION finance.note_transition() IS 'Writes what a move into or out of active means for the figures by day; finance.movements says the same of all rows. A renewal that is paid undoes the exit of what it replaced.';
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
COMMENT ON VIEW finance.movements IS 'Every beginning and end of a customers access, one row each, alternating for each customer. Source: subscriptions.transitions into and out of active, finance.access_ends, and subscriptions whose expires_at has passed while their row is still active.';
DROP INDEX subscriptions.transitions_of_withdrawals;
-- What was undone counts again.
SELECT finance.rebuild();
