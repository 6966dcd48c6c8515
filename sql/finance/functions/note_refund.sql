CREATE OR REPLACE FUNCTION finance.note_refund() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' AND OLD.purpose = 'subscription' AND OLD.status = 'done' THEN
        INSERT INTO finance.daily_deltas (at, refunds_cents) VALUES (OLD.refunded_at, -OLD.amount_cents);
    END IF;
    IF TG_OP <> 'DELETE' AND NEW.purpose = 'subscription' AND NEW.status = 'done' THEN
        INSERT INTO finance.daily_deltas (at, refunds_cents) VALUES (NEW.refunded_at, NEW.amount_cents);
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION finance.note_refund() IS 'Writes what a change of payments.refunds means for the figures by day.';
