CREATE OR REPLACE FUNCTION finance.note_payment() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' AND OLD.purpose = 'subscription' THEN
        INSERT INTO finance.daily_deltas (at, gross_gwa_cents, gross_gwb_cents, payments)
        VALUES (OLD.settled_at, CASE OLD.gateway WHEN 'gwa' THEN -OLD.amount_cents ELSE 0 END, CASE OLD.gateway WHEN 'gwb' THEN -OLD.amount_cents ELSE 0 END, -1);
    END IF;
    IF TG_OP <> 'DELETE' AND NEW.purpose = 'subscription' THEN
        INSERT INTO finance.daily_deltas (at, gross_gwa_cents, gross_gwb_cents, payments)
        VALUES (NEW.settled_at, CASE NEW.gateway WHEN 'gwa' THEN NEW.amount_cents ELSE 0 END, CASE NEW.gateway WHEN 'gwb' THEN NEW.amount_cents ELSE 0 END, 1);
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION finance.note_payment() IS 'Writes what a change of payments.payments means for the figures by day.';
