CREATE OR REPLACE FUNCTION finance.note_dispute() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' AND OLD.purpose = 'subscription' THEN
        IF OLD.state IN ('open', 'won', 'lost') THEN
            INSERT INTO finance.daily_deltas (at, chargebacks_cents) VALUES (OLD.opened_at, -OLD.amount_cents);
        END IF;
        IF OLD.state = 'won' THEN
            INSERT INTO finance.daily_deltas (at, chargebacks_cents) VALUES (OLD.closed_at, OLD.amount_cents);
        END IF;
    END IF;
    IF TG_OP <> 'DELETE' AND NEW.purpose = 'subscription' THEN
        IF NEW.state IN ('open', 'won', 'lost') THEN
            INSERT INTO finance.daily_deltas (at, chargebacks_cents) VALUES (NEW.opened_at, NEW.amount_cents);
        END IF;
        IF NEW.state = 'won' THEN
            INSERT INTO finance.daily_deltas (at, chargebacks_cents) VALUES (NEW.closed_at, -NEW.amount_cents);
        END IF;
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION finance.note_dispute() IS 'Writes what a change of payments.disputes means for the figures by day.';
