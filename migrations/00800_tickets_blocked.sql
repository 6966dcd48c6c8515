-- +goose Up
ALTER TABLE tickets.orders ADD COLUMN disputed_at timestamptz;
COMMENT ON COLUMN tickets.orders.disputed_at IS 'Since when, by our clock, an open dispute of its own payment blocks its tickets. Null while none is open.';
ALTER TABLE tickets.orders DROP CONSTRAINT orders_state_known;
ALTER TABLE tickets.orders ADD CONSTRAINT orders_state_known CHECK (state IN ('reserved', 'paid', 'released', 'refund_due', 'refunded', 'lost')) NOT VALID;
ALTER TABLE tickets.orders VALIDATE CONSTRAINT orders_state_known;
COMMENT ON COLUMN tickets.orders.state IS 'What holds here: reserved (places held, money open), paid, released (places given back unpaid), refund_due (money came and no place was left), refunded, lost (a dispute took its money). The specification''s status is always pending.';
COMMENT ON COLUMN tickets.orders.payment_status IS 'The gateway''s own word, such as CONFIRMED, RECEIVED, PENDING, succeeded, requires_action, canceled. CONFIRMED for free orders, CHARGEBACK_LOST when a dispute took the money.';

ALTER TABLE tickets.tickets ADD COLUMN refund_id platform.object_id, ADD COLUMN refund_asked_at timestamptz,
    ADD CONSTRAINT tickets_refund_has_instant CHECK ((refund_id IS NULL) = (refund_asked_at IS NULL)) NOT VALID;
ALTER TABLE tickets.tickets VALIDATE CONSTRAINT tickets_refund_has_instant;
COMMENT ON COLUMN tickets.tickets.refund_id IS 'The refund that gives its share of the order''s money back, from the request on; null again when the refund failed. No foreign key: the ledger is of the module payments.';
COMMENT ON COLUMN tickets.tickets.refund_asked_at IS 'When refund_id was set: the ticket is good no more.';
CREATE INDEX tickets_by_refund ON tickets.tickets (refund_id) WHERE refund_id IS NOT NULL;

ALTER TABLE tickets.events ADD COLUMN cancelled_at timestamptz;
COMMENT ON COLUMN tickets.events.cancelled_at IS 'When it was called off: its tickets are good no more.';

CREATE FUNCTION tickets.blocked(status text, refund_id text, disputed_at timestamptz, cancelled_at timestamptz) RETURNS text LANGUAGE sql IMMUTABLE
RETURN CASE WHEN status NOT IN ('pending', 'available') THEN NULL
    WHEN refund_id IS NOT NULL THEN 'refund_requested'
    WHEN cancelled_at IS NOT NULL THEN 'event_cancelled'
    WHEN disputed_at IS NOT NULL THEN 'payment_disputed' END;
COMMENT ON FUNCTION tickets.blocked(text, text, timestamptz, timestamptz) IS 'Why a ticket that is neither used nor expired opens no door: by its own status and refund_id, its order''s disputed_at, its event''s cancelled_at. Null when nothing blocks it.';

-- +goose Down
DROP FUNCTION tickets.blocked(text, text, timestamptz, timestamptz);
ALTER TABLE tickets.events DROP COLUMN cancelled_at;
ALTER TABLE tickets.tickets DROP COLUMN refund_id, DROP COLUMN refund_asked_at;
UPDATE tickets.orders SET state = 'refunded' WHERE state = 'lost';
ALTER TABLE tickets.orders DROP CONSTRAINT orders_state_known, DROP COLUMN disputed_at;
ALTER TABLE tickets.orders ADD CONSTRAINT orders_state_known CHECK (state IN ('reserved', 'paid', 'released', 'refund_due', 'refunded')) NOT VALID;
ALTER TABLE tickets.orders VALIDATE CONSTRAINT orders_state_known;
COMMENT ON COLUMN tickets.orders.state IS 'What holds here: reserved (places held, money open), paid, released (places given back unpaid), refund_due (money came and no place was left), refunded. The specification''s status is always pending.';
COMMENT ON COLUMN tickets.orders.payment_status IS 'The gateway''s own word, such as CONFIRMED, RECEIVED, PENDING, succeeded, requires_action, canceled. CONFIRMED for free orders.';
