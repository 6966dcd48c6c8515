-- When a dispute closes or a refund comes to nothing, tickets.orders.disputed_at and tickets.tickets.refund_asked_at are null again. A scan that was made
-- before, and is uploaded after, is still told why its ticket was not good then.
-- +goose Up
CREATE TABLE tickets.past_blocks (
    order_id  platform.object_id NOT NULL CONSTRAINT past_blocks_order_known REFERENCES tickets.orders (id) ON DELETE CASCADE,
    ticket_id platform.object_id CONSTRAINT past_blocks_ticket_known REFERENCES tickets.tickets (id) ON DELETE CASCADE,
    reason    text COLLATE "C" NOT NULL CONSTRAINT past_blocks_reason_known CHECK (reason IN ('payment_disputed', 'refund_requested')),
    since     timestamptz NOT NULL,
    until     timestamptz NOT NULL
);
COMMENT ON TABLE tickets.past_blocks IS 'What once kept tickets from opening a door, and does so no more. What does so now stands in the ticket, its order and its event.';
COMMENT ON COLUMN tickets.past_blocks.ticket_id IS 'The one ticket that it was about. Null: all tickets of the order.';
COMMENT ON COLUMN tickets.past_blocks.until IS 'The first instant at which it did so no more.';
CREATE INDEX past_blocks_by_order ON tickets.past_blocks (order_id);
CREATE INDEX past_blocks_by_ticket ON tickets.past_blocks (ticket_id) WHERE ticket_id IS NOT NULL;

-- +goose StatementBegin
CREATE FUNCTION tickets.keep_ended_dispute() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO tickets.past_blocks (order_id, reason, since, until) VALUES (OLD.id, 'payment_disputed', OLD.disputed_at, NEW.updated_at);
    RETURN NULL;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION tickets.keep_ended_dispute() IS 'Keeps from when to when a dispute blocked an order''s tickets, whoever notes its end.';
CREATE TRIGGER orders_ended_disputes_are_kept AFTER UPDATE OF disputed_at ON tickets.orders
    FOR EACH ROW WHEN (OLD.disputed_at IS NOT NULL AND NEW.disputed_at IS NULL) EXECUTE FUNCTION tickets.keep_ended_dispute();

-- +goose StatementBegin
CREATE FUNCTION tickets.keep_ended_request() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO tickets.past_blocks (order_id, ticket_id, reason, since, until)
    VALUES (OLD.order_id, OLD.id, 'refund_requested', OLD.refund_asked_at, NEW.register_update_date);
    RETURN NULL;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION tickets.keep_ended_request() IS 'Keeps from when to when a refund that came to nothing blocked a ticket, whoever notes its end.';
CREATE TRIGGER tickets_ended_requests_are_kept AFTER UPDATE OF refund_asked_at ON tickets.tickets
    FOR EACH ROW WHEN (OLD.refund_asked_at IS NOT NULL AND NEW.refund_asked_at IS NULL AND OLD.order_id IS NOT NULL) EXECUTE FUNCTION tickets.keep_ended_request();

-- +goose Down
DROP TRIGGER tickets_ended_requests_are_kept ON tickets.tickets;
DROP FUNCTION tickets.keep_ended_request();
DROP TRIGGER orders_ended_disputes_are_kept ON tickets.orders;
DROP FUNCTION tickets.keep_ended_dispute();
DROP TABLE tickets.past_blocks;
