CREATE OR REPLACE FUNCTION tickets.keep_ended_dispute() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO tickets.past_blocks (order_id, reason, since, until) VALUES (OLD.id, 'payment_disputed', OLD.disputed_at, NEW.updated_at);
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION tickets.keep_ended_dispute() IS 'Keeps from when to when a dispute blocked an order''s tickets, whoever notes its end.';
