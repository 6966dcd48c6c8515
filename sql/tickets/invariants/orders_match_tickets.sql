-- An order has no more tickets than were bought, good ones only when it is paid, and waiting ones only while its places are held.
SELECT o.id AS id, o.state || ' of ' || o.quantity || ': ' || count(t.id) || ' tickets, ' || count(t.id) FILTER (WHERE t.status = 'pending')
    || ' pending, ' || count(t.id) FILTER (WHERE t.status = 'available') || ' available' AS detail
FROM tickets.orders o JOIN tickets.tickets t ON t.order_id = o.id
GROUP BY o.id
HAVING count(t.id) > o.quantity
    OR o.state <> 'reserved' AND bool_or(t.status = 'pending')
    OR o.state <> 'paid' AND bool_or(t.status = 'available')
    OR o.state = 'released' AND bool_or(t.holds_place AND t.status <> 'consumed')
