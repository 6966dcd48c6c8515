CREATE OR REPLACE FUNCTION finance.exit_reason(reason text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE
        WHEN reason IN ('payment_failure', 'customer_cancelled', 'admin_cancelled', 'chargeback', 'expired') THEN reason
        WHEN reason = 'withdrawn' THEN 'customer_cancelled'
        WHEN reason IN ('replaced', 'gateway_status', 'payment_declined', 'nothing_at_gateway', 'abandoned', 'pix_unpaid') THEN 'payment_failure'
        ELSE 'admin_cancelled'
    END
$$;
COMMENT ON FUNCTION finance.exit_reason(text) IS 'The one of the five reasons of churn under which a move out of active counts. withdrawn counts under customer_cancelled. What waits for a payment that has not come is payment_failure, also a renewal that is not paid (yet); a word that is none of ours, gone_at_gateway among them, was somebody''s hand: admin_cancelled.';
