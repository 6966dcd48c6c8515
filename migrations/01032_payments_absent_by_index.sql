-- +goose Up
-- It is read for each renewal, and read all of the ledger.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION payments.absent(gateway text, payment_id text, purpose text, local_id platform.object_id)
    RETURNS TABLE (payment boolean, others boolean, failures boolean)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    -- An argument that is an id gives all of them its collation, by which no index of the columns beside it could be read.
    SELECT count(*) = 0, count(*) FILTER (WHERE NOT (p.purpose = $3 AND p.local_id = $4)) = 0,
           NOT EXISTS (SELECT 1 FROM payments.failed_attempts f WHERE f.purpose = $3 COLLATE "default" AND f.local_id = $4)
    FROM payments.payments p
    WHERE p.gateway = $1 COLLATE "default"
      AND (p.gateway_payment_id = $2 COLLATE "default" OR p.payment_intent_id = $2 COLLATE "default")
$$;
-- +goose StatementEnd

-- +goose Down
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION payments.absent(gateway text, payment_id text, purpose text, local_id platform.object_id)
    RETURNS TABLE (payment boolean, others boolean, failures boolean)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT count(*) = 0, count(*) FILTER (WHERE NOT (p.purpose = $3 AND p.local_id = $4)) = 0,
           NOT EXISTS (SELECT 1 FROM payments.failed_attempts f WHERE f.purpose = $3 AND f.local_id = $4)
    FROM payments.payments p WHERE p.gateway = $1 AND (p.gateway_payment_id = $2 OR p.payment_intent_id = $2)
$$;
-- +goose StatementEnd
