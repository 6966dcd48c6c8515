-- +goose Up
CREATE TABLE tickets.deleted_orders (
    id                 platform.object_id PRIMARY KEY,
    customer_id        platform.object_id NOT NULL,
    gateway            text NOT NULL,
    gateway_payment_id text,
    deleted_at         timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT deleted_orders_gateway_known CHECK (gateway IN ('gwa', 'gwb'))
);
COMMENT ON TABLE tickets.deleted_orders IS 'Unpaid orders that were deleted with their event, as far as a gateway knows them: money that arrives for one of them all the same is given back.';
COMMENT ON COLUMN tickets.deleted_orders.customer_id IS 'Kept without a foreign key, as in the ledger: it outlives the customer.';
CREATE UNIQUE INDEX deleted_orders_gateway_payment_unique ON tickets.deleted_orders (gateway, gateway_payment_id) WHERE gateway_payment_id IS NOT NULL;

-- +goose StatementBegin
CREATE FUNCTION tickets.keep_deleted_order() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO tickets.deleted_orders (id, customer_id, gateway, gateway_payment_id)
    VALUES (OLD.id, OLD.customer_id, OLD.gateway, OLD.gateway_payment_id) ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION tickets.keep_deleted_order() IS 'Keeps what a gateway calls an order by, whoever deletes it.';
CREATE TRIGGER orders_deleted_are_kept AFTER DELETE ON tickets.orders
    FOR EACH ROW WHEN (OLD.gateway IS NOT NULL) EXECUTE FUNCTION tickets.keep_deleted_order();

-- +goose Down
DROP TRIGGER orders_deleted_are_kept ON tickets.orders;
DROP FUNCTION tickets.keep_deleted_order();
DROP TABLE tickets.deleted_orders;
