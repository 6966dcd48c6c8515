-- Money that came for a subscription after its end, and opened nothing, or after its customer was deleted, is given back or on the list of unapplied payments.
SELECT p.id AS id, p.gateway || ' ' || p.gateway_payment_id || ' of ' || p.amount_cents || ' cents for subscription ' || s.id || ', ' || s.status AS detail
FROM payments.payments p
JOIN subscriptions.subscriptions s ON p.purpose = 'subscription' AND s.id = p.local_id
LEFT JOIN accounts.deletions d ON d.customer_id = s.customer_id
LEFT JOIN (
    SELECT gateway, payment_ref, sum(amount_cents) AS cents FROM payments.refunds WHERE status = 'done' GROUP BY gateway, payment_ref
) r ON r.gateway = p.gateway AND r.payment_ref = coalesce(p.payment_intent_id, p.gateway_payment_id)
WHERE p.amount_cents > coalesce(r.cents, 0)
  -- What was heard after the end added no paid time, whenever it was charged. What a recurrence charged before the deletion had its access while it ran.
  AND (s.status IN ('cancelled', 'expired') AND p.created_at > s.ended_at
      OR p.created_at > d.deleted_at
          AND (coalesce(p.settled_at, p.created_at) >= d.deleted_at OR s.started_at IS NULL OR s.payment_method = 'pix' AND NOT s.pix_automatic))
  AND NOT EXISTS (SELECT FROM payments.unapplied_payments u WHERE u.gateway = p.gateway AND u.gateway_payment_id = p.gateway_payment_id)
