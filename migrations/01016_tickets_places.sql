-- +goose Up
-- The capacity is asked about after an event's update, not before it: a trigger BEFORE UPDATE FOR EACH ROW has Postgres
-- make all generated columns of the row anew, at each order the words by which the event is searched for.
DROP TRIGGER events_capacity_respected ON tickets.events;
CREATE TRIGGER events_capacity_respected AFTER UPDATE OF tickets_issued ON tickets.events
    FOR EACH ROW WHEN (NEW.tickets_issued > OLD.tickets_issued) EXECUTE FUNCTION tickets.refuse_beyond_capacity();

-- Room for new versions of a row beside the old ones: each order writes its event's counters.
ALTER TABLE tickets.events SET (fillfactor = 50);

-- tickets_by_event answers the same, and is written in any case.
DROP INDEX tickets.tickets_live_by_event;

-- +goose Down
CREATE INDEX tickets_live_by_event ON tickets.tickets (event_id) WHERE status IN ('pending', 'available');
ALTER TABLE tickets.events RESET (fillfactor);
DROP TRIGGER events_capacity_respected ON tickets.events;
CREATE TRIGGER events_capacity_respected BEFORE UPDATE OF tickets_issued ON tickets.events
    FOR EACH ROW WHEN (NEW.tickets_issued > OLD.tickets_issued) EXECUTE FUNCTION tickets.refuse_beyond_capacity();
