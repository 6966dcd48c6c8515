-- Of each payment at most one refund is asked for and not answered.
SELECT gateway || ' ' || payment_ref AS id, count(*) || ' refunds without an answer: ' || string_agg(id::text, ', ' ORDER BY id) AS detail
FROM payments.refunds
WHERE source <> 'gateway' AND status = 'requested'
GROUP BY gateway, payment_ref HAVING count(*) > 1
