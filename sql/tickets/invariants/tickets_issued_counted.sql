-- tickets_issued of an event is the number of its tickets that hold a place.
SELECT e.id AS id, e.tickets_issued || ' noted, ' || coalesce(t.places, 0) || ' counted' AS detail
FROM tickets.events e
LEFT JOIN (SELECT event_id, count(*) AS places FROM tickets.tickets WHERE holds_place GROUP BY event_id) t ON t.event_id = e.id
WHERE e.tickets_issued <> coalesce(t.places, 0)
