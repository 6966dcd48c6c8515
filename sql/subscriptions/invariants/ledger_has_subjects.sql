-- Each payment, refund and dispute is of a subscription or order that is there, of one deleted with its event, or of nothing but a customer or an id that was lost, and of its customer.
SELECT l.what || ' ' || l.id AS id, l.purpose || ' ' || l.local_id || ' of customer ' || l.customer_id AS detail
FROM (
    SELECT 'payment' AS what, id, purpose, local_id, customer_id FROM payments.payments
    UNION ALL SELECT 'refund', id, purpose, local_id, customer_id FROM payments.refunds
    UNION ALL SELECT 'dispute', id, purpose, local_id, customer_id FROM payments.disputes
) l
LEFT JOIN subscriptions.subscriptions s ON l.purpose = 'subscription' AND s.id = l.local_id
LEFT JOIN tickets.orders o ON l.purpose = 'order' AND o.id = l.local_id
LEFT JOIN tickets.deleted_orders d ON l.purpose = 'order' AND d.id = l.local_id
LEFT JOIN accounts.users u ON l.purpose = 'customer' AND u.id = l.local_id
LEFT JOIN (SELECT DISTINCT reference FROM payments.unapplied_payments WHERE customer_id IS NULL) n ON l.purpose = 'customer' AND n.reference = l.local_id
WHERE coalesce(s.customer_id, o.customer_id, d.customer_id, u.id, n.reference) IS DISTINCT FROM l.customer_id
