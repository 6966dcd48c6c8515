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
COMMENT ON FUNCTION finance.note_transition() IS 'Writes what a move into or out of active means for the figures by day; finance.movements says the same of all rows. A renewal that is paid undoes the exit of what it replaced, and a chargeback that is withdrawn the exit that it was.';
