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
COMMENT ON FUNCTION tickets.settle_status() IS 'What follows from a new status, whoever sets it: the instant of consumption, and the place, which a ticket gives back that expires unpaid, or whose money is gone.';
