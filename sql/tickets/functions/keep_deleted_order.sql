CREATE OR REPLACE FUNCTION tickets.keep_deleted_order() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO tickets.deleted_orders (id, customer_id, gateway, gateway_payment_id)
    VALUES (OLD.id, OLD.customer_id, OLD.gateway, OLD.gateway_payment_id) ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION tickets.keep_deleted_order() IS 'Keeps what a gateway calls an order by, whoever deletes it.';
