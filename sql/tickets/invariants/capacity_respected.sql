-- No ticket was issued beyond an event's capacity. A capacity lowered below what is issued is no violation, a ticket after that is one.
SELECT e.id AS id, e.tickets_issued || ' issued of ' || e.capacity AS detail
FROM tickets.events e
WHERE e.tickets_issued > e.capacity AND EXISTS (
    SELECT 1 FROM tickets.tickets t WHERE t.event_id = e.id AND t.holds_place AND t.register_date > e.register_update_date)
