-- +goose Up
ALTER TABLE tickets.events
    ADD COLUMN cancel_reason text COLLATE "C", ADD COLUMN cancel_refund text COLLATE "C", ADD COLUMN refund_until timestamptz,
    ADD COLUMN told_event_date timestamptz, ADD COLUMN told_ends_at timestamptz,
    ADD CONSTRAINT events_cancel_refund_known CHECK (cancel_refund IN ('all', 'on_request')) NOT VALID;
ALTER TABLE tickets.events VALIDATE CONSTRAINT events_cancel_refund_known;
UPDATE tickets.events SET is_active = false WHERE cancelled_at IS NOT NULL AND is_active;
ALTER TABLE tickets.events ADD CONSTRAINT events_cancelled_is_closed CHECK (cancelled_at IS NULL OR NOT is_active) NOT VALID;
ALTER TABLE tickets.events VALIDATE CONSTRAINT events_cancelled_is_closed;
COMMENT ON COLUMN tickets.events.cancel_refund IS 'What becomes of the money of a called off event: all is given back, or what its holders ask for until refund_until. Null while it is not called off.';
COMMENT ON COLUMN tickets.events.refund_until IS 'Until when holders may give their orders back whatever the limits of withdrawal: since it was moved, or called off on request.';
COMMENT ON COLUMN tickets.events.told_event_date IS 'The start that holders know, while moves too small to be told differ from it. Null: event_date.';
COMMENT ON COLUMN tickets.events.told_ends_at IS 'The end that holders know, as told_event_date. Null: ends_at.';

CREATE TABLE tickets.give_backs (
    order_id   platform.object_id PRIMARY KEY CONSTRAINT give_backs_order_known REFERENCES tickets.orders (id) ON DELETE CASCADE,
    event_id   platform.object_id NOT NULL CONSTRAINT give_backs_event_known REFERENCES tickets.events (id) ON DELETE CASCADE,
    why        text COLLATE "C" NOT NULL CONSTRAINT give_backs_why_known CHECK (why IN ('withdrawn', 'event_moved', 'event_cancelled')),
    asked_at   timestamptz,
    refund_id  platform.object_id,
    failed_at  timestamptz,
    tries      integer NOT NULL DEFAULT 0,
    next_at    timestamptz,
    created_at timestamptz NOT NULL
);
COMMENT ON TABLE tickets.give_backs IS 'Orders whose whole money goes back: their buyer withdrew, or their event was moved or called off. What became of it stands in the order and in the ledger of refunds.';
COMMENT ON COLUMN tickets.give_backs.asked_at IS 'Since when it is to go back. Null while the buyer may ask for it.';
COMMENT ON COLUMN tickets.give_backs.refund_id IS 'The refund that was asked for; null again when it came to nothing. No foreign key: the ledger is of the module payments.';
COMMENT ON COLUMN tickets.give_backs.failed_at IS 'When its gateway refused: it stands on the list of unapplied payments, for people.';
COMMENT ON COLUMN tickets.give_backs.next_at IS 'Not before is it tried again.';
CREATE INDEX give_backs_by_event ON tickets.give_backs (event_id);
CREATE INDEX give_backs_due ON tickets.give_backs (created_at) WHERE asked_at IS NOT NULL AND refund_id IS NULL AND failed_at IS NULL;

-- +goose Down
DROP TABLE tickets.give_backs;
ALTER TABLE tickets.events DROP COLUMN cancel_reason, DROP COLUMN cancel_refund, DROP COLUMN refund_until, DROP COLUMN told_event_date, DROP COLUMN told_ends_at,
    DROP CONSTRAINT events_cancelled_is_closed;
