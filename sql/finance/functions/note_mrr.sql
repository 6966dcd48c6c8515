CREATE OR REPLACE FUNCTION finance.note_mrr() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    price bigint := finance.price_before(NEW.subscription_id, NEW.id);
    before record;
BEGIN
    IF NEW.from_status = 'active' THEN
        INSERT INTO finance.mrr_deltas (at, churn_cents)
        VALUES (coalesce((SELECT a.ended_at FROM finance.access_ends a WHERE a.transition_id = NEW.id), NEW.at), price);
        RETURN NULL;
    END IF;
    SELECT t.id, t.subscription_id, t.reason, coalesce(a.ended_at, t.at) AS at, finance.price_before(t.subscription_id, t.id) AS price INTO before
    FROM subscriptions.transitions t LEFT JOIN finance.access_ends a ON a.transition_id = t.id
    WHERE t.customer_id = NEW.customer_id AND t.id < NEW.id AND (t.from_status = 'active' OR t.to_status = 'active')
    ORDER BY t.id DESC LIMIT 1;
    IF NEW.reason = 'chargeback_withdrawn' THEN
        INSERT INTO finance.mrr_deltas (at, churn_cents) VALUES (before.at, -before.price);
        INSERT INTO finance.mrr_deltas (at, expansion_cents, contraction_cents)
        SELECT c.at, greatest(c.to_cents - c.from_cents, 0), greatest(c.from_cents - c.to_cents, 0)
        FROM finance.price_changes c WHERE c.subscription_id = NEW.subscription_id AND c.transition_id >= before.id;
    ELSIF before.id IS NULL THEN
        INSERT INTO finance.mrr_deltas (at, new_cents) VALUES (NEW.at, price);
    ELSIF before.subscription_id = NEW.subscription_id THEN
        INSERT INTO finance.mrr_deltas (at, left_at, left_cents, reactivation_cents) VALUES (NEW.at, before.at, before.price, price);
    ELSIF before.reason = 'replaced' AND EXISTS (
        SELECT FROM subscriptions.transitions b WHERE b.subscription_id = NEW.subscription_id AND b.reason = 'renewed' AND b.from_status IS NULL)
    THEN
        INSERT INTO finance.mrr_deltas (at, churn_cents) VALUES (before.at, -before.price);
        IF price <> before.price THEN
            INSERT INTO finance.mrr_deltas (at, expansion_cents, contraction_cents)
            VALUES (NEW.at, greatest(price - before.price, 0), greatest(before.price - price, 0));
        END IF;
    ELSE
        INSERT INTO finance.mrr_deltas (at, reactivation_cents) VALUES (NEW.at, price);
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION finance.note_mrr() IS 'Writes what a move into or out of active means for the movements of MRR; finance_internal.mrr_scan says the same of all rows. A renewal that is paid undoes the churn of what it replaced, and a chargeback that is withdrawn the churn that it was. Runs after finance.note_transition, which says when access ended.';
