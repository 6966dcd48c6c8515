CREATE OR REPLACE FUNCTION finance.keep_due(id text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO finance.dues (subscription_id, next_billing_date, otherwise_on)
    SELECT c.subscription_id, c.next_billing_date, c.otherwise_on FROM finance_internal.due_scan c WHERE c.subscription_id = id
    ON CONFLICT (subscription_id) DO UPDATE SET next_billing_date = excluded.next_billing_date, otherwise_on = excluded.otherwise_on;
    IF NOT FOUND THEN
        DELETE FROM finance.dues d WHERE d.subscription_id = id;
    END IF;
END
$$;
COMMENT ON FUNCTION finance.keep_due(text) IS 'Writes down since when a subscription is due, or that it is not overdue.';
