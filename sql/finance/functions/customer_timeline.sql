CREATE OR REPLACE FUNCTION finance.customer_timeline(customer text, kind text, skip integer, qty integer) RETURNS json
LANGUAGE sql STABLE AS $$
    WITH moment AS (
        SELECT who.created_at AS at, 'signup' AS type, 'Signed up.' AS summary, '{}'::jsonb AS details FROM finance.customer_profiles_personal who WHERE who.customer_id = $1
        UNION ALL
        SELECT who.email_verified_at, 'email_verified', 'E-mail address verified.', '{}' FROM finance.customer_profiles_personal who
        WHERE who.customer_id = $1 AND who.email_verified_at IS NOT NULL
        UNION ALL
        (SELECT t.at, 'subscription',
            'Subscription to ' || s.plan_name || CASE WHEN t.from_status IS NULL THEN ' began as ' ELSE ' went from ' || t.from_status || ' to ' END
            || t.to_status || ' (' || replace(t.reason, '_', ' ') || ').',
            jsonb_build_object('plan_name', s.plan_name, 'from_status', t.from_status, 'to_status', t.to_status, 'reason', t.reason)
         FROM finance.subscriptions s JOIN finance.transitions t ON t.subscription_id = s.subscription_id
         WHERE s.customer_id = $1 ORDER BY t.at DESC LIMIT $3 + $4 + 1)
        UNION ALL
        (SELECT p.settled_at, 'payment',
            'Paid R$ ' || to_char(p.amount_cents / 100.0, 'FM999999999990.00') || ' for ' || CASE p.purpose WHEN 'order' THEN 'a ticket order' WHEN 'customer' THEN 'nothing that is known here' ELSE 'a ' || p.purpose END
            || ' by ' || replace(p.payment_method, '_', ' ') || ' at ' || p.gateway || '.',
            jsonb_build_object('amount', p.amount_cents, 'purpose', p.purpose, 'payment_method', p.payment_method, 'gateway', p.gateway)
         FROM (SELECT * FROM finance.payments x WHERE x.customer_id = $1 ORDER BY x.settled_at DESC LIMIT $3 + $4 + 1) p)
        UNION ALL
        (SELECT f.failed_at, 'payment_failed',
            'A payment of R$ ' || to_char(f.amount_cents / 100.0, 'FM999999999990.00') || ' failed at ' || f.gateway || '.',
            jsonb_build_object('amount', f.amount_cents, 'gateway', f.gateway)
         FROM (SELECT * FROM finance.customer_failures x WHERE x.customer_id = $1 ORDER BY x.failed_at DESC LIMIT $3 + $4 + 1) f)
        UNION ALL
        (SELECT coalesce(r.refunded_at, r.requested_at), 'refund',
            'A refund of R$ ' || to_char(r.amount_cents / 100.0, 'FM999999999990.00') || CASE r.status
                WHEN 'done' THEN ' was given back.' WHEN 'failed' THEN ' failed.' ELSE ' is under way.' END,
            jsonb_build_object('amount', r.amount_cents, 'gateway', r.gateway, 'refund_status', r.status)
         FROM (SELECT * FROM finance.refunds x WHERE x.customer_id = $1 ORDER BY coalesce(x.refunded_at, x.requested_at) DESC LIMIT $3 + $4 + 1) r)
        UNION ALL
        (SELECT c.at, 'chargeback', CASE c.kind
            WHEN 'taken' THEN 'A dispute took R$ ' || to_char(c.amount_cents / 100.0, 'FM999999999990.00') || '.'
            ELSE 'A dispute was won: R$ ' || to_char(-c.amount_cents / 100.0, 'FM999999999990.00') || ' came back.' END,
            jsonb_build_object('amount', c.amount_cents, 'gateway', c.gateway)
         FROM (SELECT * FROM finance.chargebacks x WHERE x.customer_id = $1 ORDER BY x.at DESC LIMIT $3 + $4 + 1) c)
        UNION ALL
        (SELECT o.created_at, 'order',
            'Ordered ' || o.quantity || ' for ' || o.event_title || ', R$ ' || to_char(o.total_cents / 100.0, 'FM999999999990.00') || '.',
            jsonb_build_object('amount', o.total_cents, 'quantity', o.quantity, 'event_title', o.event_title)
         FROM finance.orders o WHERE o.customer_id = $1 ORDER BY o.created_at DESC LIMIT $3 + $4 + 1)
        UNION ALL
        (SELECT t.consumed_at, 'ticket', 'Used a ticket for ' || e.title || '.', jsonb_build_object('event_title', e.title)
         FROM (
            SELECT * FROM finance.tickets x WHERE x.customer_id = $1 AND x.consumed_at IS NOT NULL ORDER BY x.consumed_at DESC LIMIT $3 + $4 + 1) t
         JOIN finance.events e ON e.event_id = t.event_id)
        UNION ALL
        (SELECT r.redeemed_at, 'promo_code', 'Redeemed the promo code ' || n.code || '.', jsonb_build_object('promo_code', n.code)
         FROM (SELECT * FROM finance.promo_redemptions x WHERE x.customer_id = $1 ORDER BY x.redeemed_at DESC LIMIT $3 + $4 + 1) r
         JOIN finance.promo_redemptions_personal n ON n.redemption_id = r.redemption_id)
    ), page AS (
        SELECT m.*, row_number() OVER (ORDER BY m.at DESC, m.type, m.summary) AS place
        FROM (SELECT * FROM moment WHERE $2 = '' OR type = $2 ORDER BY at DESC, type, summary LIMIT $4 + 1 OFFSET $3) m
    )
    SELECT json_build_object(
        'timeline', coalesce(json_agg(jsonb_build_object('at', platform.json_time(p.at), 'type', p.type, 'summary', p.summary) || jsonb_strip_nulls(p.details)
            ORDER BY p.place) FILTER (WHERE p.place <= $4), '[]'),
        'more', count(*) > $4)
    FROM page p
$$;
COMMENT ON FUNCTION finance.customer_timeline(text, text, integer, integer) IS 'What happened to a customer, in sentences and in what these say, the newest first: qty of one type, or of all where it is empty, behind the first skip, and whether there are more. Each type is read by an index. It reads …_personal views with the caller''s rights.';
