-- No refund that was asked for here is unanswered for a day, or under way for 14 days.
SELECT id AS id, gateway || ' ' || payment_ref || ', ' || status || ' since ' || requested_at AS detail
FROM payments.refunds
WHERE source <> 'gateway' AND (status = 'requested' AND requested_at < $1::timestamptz - interval '1 day'
    OR status = 'pending' AND requested_at < $1::timestamptz - interval '14 days')
