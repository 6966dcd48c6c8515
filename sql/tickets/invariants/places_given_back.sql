-- No unpaid order holds places more than 15 minutes after their time, and no refund for want of places is open for a day, unless it is kept or waits for the limits of automatic refunds.
SELECT id AS id, 'reserved until ' || hold_until AS detail
FROM tickets.orders WHERE state = 'reserved' AND NOT intent_open AND hold_until < $1::timestamptz - interval '15 minutes'
UNION ALL
SELECT id, 'refund due since ' || paid_at FROM tickets.orders orders WHERE state = 'refund_due' AND paid_at < $1::timestamptz - interval '1 day'
  AND NOT EXISTS (SELECT FROM payments.unapplied_payments u WHERE u.gateway = orders.gateway AND u.gateway_payment_id = orders.gateway_payment_id AND (u.state = 'kept' OR u.state = 'open' AND u.automatic))
