-- What the list of unapplied payments says of each is what the ledger and its history say.
SELECT u.id AS id, u.kind || ' ' || u.gateway || ' ' || u.subject || ' is ' || u.state || ': paid ' || coalesce(p.amount_cents::text, 'nothing known')
    || ', given back ' || coalesce(r.done, 0) || ', asked for ' || coalesce(r.open, 0) || ', lost ' || coalesce(l.cents, 0) || ' cents' AS detail
FROM payments.unapplied_payments u
LEFT JOIN payments.payments p ON p.gateway = u.gateway AND p.gateway_payment_id = u.gateway_payment_id
LEFT JOIN (
    SELECT gateway, payment_ref, coalesce(sum(amount_cents) FILTER (WHERE status = 'done'), 0) AS done,
        coalesce(sum(amount_cents) FILTER (WHERE status IN ('requested', 'pending')), 0) AS open
    FROM payments.refunds GROUP BY gateway, payment_ref
) r ON r.gateway = p.gateway AND r.payment_ref = coalesce(p.payment_intent_id, p.gateway_payment_id)
LEFT JOIN (
    SELECT gateway, payment_ref, sum(amount_cents) AS cents FROM payments.disputes WHERE state = 'lost' GROUP BY gateway, payment_ref
) l ON l.gateway = p.gateway AND l.payment_ref = coalesce(p.payment_intent_id, p.gateway_payment_id)
LEFT JOIN LATERAL (
    SELECT d.to_state FROM payments.unapplied_decisions d WHERE d.unapplied_id = u.id ORDER BY d.id DESC LIMIT 1
) d ON true
WHERE d.to_state IS DISTINCT FROM u.state
   OR u.kind NOT IN ('unknown', 'foreign') AND p.id IS NULL
   OR CASE u.state
        WHEN 'open' THEN coalesce(r.open, 0) > 0 AND NOT u.taken_back OR coalesce(r.done, 0) + coalesce(l.cents, 0) >= p.amount_cents
        WHEN 'refunding' THEN coalesce(r.open, 0) = 0 AND u.updated_at < $1::timestamptz - interval '1 hour'
        WHEN 'refunded' THEN coalesce(r.done, 0) + coalesce(l.cents, 0) < coalesce(p.amount_cents, 1)
        WHEN 'extended' THEN p.purpose IS DISTINCT FROM 'subscription' OR p.local_id IS DISTINCT FROM u.subscription_id
        WHEN 'kept' THEN coalesce(r.done, 0) >= p.amount_cents
        ELSE false END
