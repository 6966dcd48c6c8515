CREATE OR REPLACE FUNCTION finance.note_subscription() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO finance.standing_deltas (gateway, payment_method, plan_id, active, mrr_cents, trials, trial_mrr_cents, overdue, at_risk_cents)
    SELECT c.gateway, c.payment_method, c.plan_id, sum(c.sign * c.active), sum(c.sign * c.active * c.price_cents), sum(c.sign * c.trial),
        sum(c.sign * c.trial * c.price_cents), sum(c.sign * c.overdue), sum(c.sign * c.overdue * c.price_cents)
    FROM (
        SELECT s.sign, s.gateway, s.payment_method, s.plan_id, s.price_cents,
            (s.status = 'active')::int AS active,
            (s.status = 'active' AND s.trial_days > 0 AND s.last_payment_at IS NULL)::int AS trial,
            ((s.payment_failures > 0 OR s.status = 'suspended') AND s.status NOT IN ('cancelled', 'expired'))::int AS overdue
        FROM (VALUES
            (1, NEW.gateway, NEW.payment_method, NEW.plan_id, NEW.price_cents, NEW.status, NEW.trial_days, NEW.last_payment_at, NEW.payment_failures),
            (-1, OLD.gateway, OLD.payment_method, OLD.plan_id, OLD.price_cents, OLD.status, OLD.trial_days, OLD.last_payment_at, OLD.payment_failures)
        ) AS s (sign, gateway, payment_method, plan_id, price_cents, status, trial_days, last_payment_at, payment_failures)
        WHERE s.gateway IS NOT NULL
    ) c
    GROUP BY c.gateway, c.payment_method, c.plan_id
    HAVING sum(c.sign * c.active) <> 0 OR sum(c.sign * c.active * c.price_cents) <> 0 OR sum(c.sign * c.trial) <> 0
        OR sum(c.sign * c.trial * c.price_cents) <> 0 OR sum(c.sign * c.overdue) <> 0 OR sum(c.sign * c.overdue * c.price_cents) <> 0;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION finance.note_subscription() IS 'Writes what a change of subscriptions.subscriptions means for the present figures. NEW or OLD is all null where there is none.';
