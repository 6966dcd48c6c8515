CREATE OR REPLACE FUNCTION subscriptions.absent(subscription_id platform.object_id, gateway text, payment_id text, reference text)
    RETURNS TABLE (charge boolean, pauses boolean, charge_moves boolean)
LANGUAGE plpgsql ROWS 1
SET enable_seqscan = off -- or a connection that plans it while a table is small reads all of it for long.
SET plan_cache_mode = force_generic_plan
AS $$
BEGIN
    RETURN QUERY SELECT
        NOT EXISTS (SELECT FROM subscriptions.renewal_charges c
            WHERE c.id = $4 COLLATE "C" OR c.gateway = $2 COLLATE "C" AND c.gateway_payment_id = $3 COLLATE "C"),
        NOT EXISTS (SELECT FROM subscriptions.pauses p WHERE p.subscription_id = $1),
        NOT EXISTS (SELECT FROM subscriptions.charge_moves m WHERE m.subscription_id = $1);
END
$$;
COMMENT ON FUNCTION subscriptions.absent(platform.object_id, text, text, text) IS
    'What a subscription has none of: a renewal charge with our own id or the payment, a pause, an extension''s charge move. One row. VOLATILE, as payments.absent is.';
