CREATE OR REPLACE FUNCTION tickets.keep_ended_request() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO tickets.past_blocks (order_id, ticket_id, reason, since, until)
    VALUES (OLD.order_id, OLD.id, 'refund_requested', OLD.refund_asked_at, NEW.register_update_date);
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION tickets.keep_ended_request() IS 'Keeps from when to when a refund that came to nothing blocked a ticket, whoever notes its end.';
