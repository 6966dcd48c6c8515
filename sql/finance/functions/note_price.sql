CREATE OR REPLACE FUNCTION finance.note_price() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    changed timestamptz := least(NEW.register_update_date, CASE WHEN OLD.status = 'active' THEN OLD.expires_at END);
BEGIN
    INSERT INTO finance.price_changes (subscription_id, at, transition_id, from_cents, to_cents)
    SELECT NEW.id, changed, coalesce(max(t.id), 0), OLD.price_cents, NEW.price_cents
    FROM subscriptions.transitions t WHERE t.subscription_id = NEW.id;
    IF OLD.status = 'active' THEN
        INSERT INTO finance.mrr_deltas (at, expansion_cents, contraction_cents)
        VALUES (changed, greatest(NEW.price_cents - OLD.price_cents, 0), greatest(OLD.price_cents - NEW.price_cents, 0));
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION finance.note_price() IS 'Keeps another price of a subscription, and what it means for MRR while it is active: after its access has ended by its date, at that date.';
