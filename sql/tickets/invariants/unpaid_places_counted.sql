-- places_unpaid and places_unpaid_guests of an event are the numbers of its tickets that wait for the money of an order.
SELECT e.id AS id, e.places_unpaid || ' noted, ' || coalesce(t.places, 0) || ' counted; of guests ' || e.places_unpaid_guests || ' noted, '
    || coalesce(t.guests, 0) || ' counted' AS detail
FROM tickets.events e
LEFT JOIN (
    SELECT event_id, count(*) AS places, count(*) FILTER (WHERE without_login OR unproved) AS guests
    FROM tickets.tickets WHERE status = 'pending' AND order_id IS NOT NULL GROUP BY event_id) t ON t.event_id = e.id
WHERE (e.places_unpaid, e.places_unpaid_guests) <> (coalesce(t.places, 0), coalesce(t.guests, 0))
