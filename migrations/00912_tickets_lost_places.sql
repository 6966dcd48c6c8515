-- A ticket that was expired already, with its event or by an admin's edit, kept its place when its order's money went back or a dispute took it,
-- and so did a used one that an admin expired after.
-- +goose Up
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION tickets.settle_status() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.status = 'consumed' THEN
        NEW.consumed_at := coalesce(NEW.consumed_at, NEW.register_update_date);
    ELSE
        NEW.consumed_at := NULL;
        NEW.consume_nonce := NULL;
    END IF;
    IF NEW.status <> 'expired' THEN
        NEW.holds_place := true;
    ELSIF OLD.status = 'pending' OR NEW.refunded_at IS NOT NULL
        OR EXISTS (SELECT FROM tickets.orders o WHERE o.id = NEW.order_id AND o.state IN ('refunded', 'refund_due', 'lost')) THEN
        NEW.holds_place := false;
    END IF;
    RETURN NEW;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION tickets.settle_status() IS 'What follows from a new status, whoever sets it: the instant of consumption, and the place, which a ticket gives back that expires unpaid, or whose money is gone.';
COMMENT ON COLUMN tickets.tickets.holds_place IS 'Counts in the event''s tickets_issued. False once it expired unpaid, or its money went back or was lost to a dispute while it was not used.';

-- Events before tickets, as everybody locks them.
SELECT e.id FROM tickets.events e WHERE e.id IN (
    SELECT t.event_id FROM tickets.tickets t LEFT JOIN tickets.orders o ON o.id = t.order_id
    WHERE t.status = 'expired' AND t.holds_place AND (t.refunded_at IS NOT NULL OR o.state IN ('refunded', 'refund_due', 'lost')))
ORDER BY e.id FOR NO KEY UPDATE;
UPDATE tickets.tickets t SET holds_place = false
WHERE t.status = 'expired' AND t.holds_place AND (t.refunded_at IS NOT NULL
    OR EXISTS (SELECT FROM tickets.orders o WHERE o.id = t.order_id AND o.state IN ('refunded', 'refund_due', 'lost')));

-- +goose Down
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION tickets.settle_status() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.status = 'consumed' THEN
        NEW.consumed_at := coalesce(NEW.consumed_at, NEW.register_update_date);
    ELSE
        NEW.consumed_at := NULL;
        NEW.consume_nonce := NULL;
    END IF;
    IF NEW.status <> 'expired' THEN
        NEW.holds_place := true;
    ELSIF OLD.status = 'pending' THEN
        NEW.holds_place := false;
    END IF;
    RETURN NEW;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION tickets.settle_status() IS 'What follows from a new status, whoever sets it: the instant of consumption, and the place, which a ticket that expires unpaid gives back.';
COMMENT ON COLUMN tickets.tickets.holds_place IS 'Counts in the event''s tickets_issued. False once it expired unpaid.';
