-- +goose Up
-- A failed attempt before an event says nothing about it: a renewal after one is as plain as any, and shares its
-- transaction with others.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION payments.absent_since(gateway text, payment_id text, purpose text, local_id platform.object_id,
    since timestamptz)
    RETURNS TABLE (payment boolean, others boolean, failures boolean)
LANGUAGE plpgsql ROWS 1
SET enable_seqscan = off -- or a connection that plans it while a table is small reads all of it for long.
SET plan_cache_mode = force_generic_plan
AS $$
BEGIN
    -- An argument that is an id gives all of them its collation, by which no index of the columns beside it could be read.
    RETURN QUERY SELECT count(*) = 0, count(*) FILTER (WHERE NOT (p.purpose = $3 AND p.local_id = $4)) = 0,
        NOT EXISTS (SELECT 1 FROM payments.failed_attempts f WHERE f.purpose = $3 COLLATE "default" AND f.local_id = $4
            AND f.failed_at > $5)
    FROM payments.payments p
    WHERE p.gateway = $1 COLLATE "default"
        AND (p.gateway_payment_id = $2 COLLATE "default" OR p.payment_intent_id = $2 COLLATE "default");
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION payments.absent_since(text, text, text, platform.object_id, timestamptz) IS
    'Published: what the ledger has none of: a payment with the id, one with it that is for something else, a failed attempt of the subscription or order after the instant. One row. VOLATILE, so that it sees what was committed while the calling statement took its locks.';
COMMENT ON FUNCTION payments.absent(text, text, text, platform.object_id) IS
    'Published for programs of before payments.absent_since: what the ledger has none of: a payment with the id, one with it that is for something else, a failed attempt of the subscription or order. One row. VOLATILE, so that it sees what was committed while the calling statement took its locks.';

-- +goose Down
COMMENT ON FUNCTION payments.absent(text, text, text, platform.object_id) IS
    'Published: what the ledger has none of: a payment with the id, one with it that is for something else, a failed attempt of the subscription or order. One row. VOLATILE, so that it sees what was committed while the calling statement took its locks.';
DROP FUNCTION payments.absent_since(text, text, text, platform.object_id, timestamptz);
