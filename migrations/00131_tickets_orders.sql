-- +goose Up
CREATE TABLE tickets.orders (
    id                 platform.object_id PRIMARY KEY,
    customer_id        platform.object_id NOT NULL,
    event_id           platform.object_id NOT NULL CONSTRAINT orders_event_known REFERENCES tickets.events (id),
    quantity           integer NOT NULL,
    unit_price_cents   bigint NOT NULL,
    total_cents        bigint NOT NULL,
    gateway            text COLLATE "C",
    payment_method     text COLLATE "C",
    gateway_payment_id text COLLATE "C",
    gateway_customer_id text COLLATE "C",
    payment_status     text COLLATE "C" NOT NULL,
    state              text COLLATE "C" NOT NULL,
    without_login      boolean NOT NULL DEFAULT false,

    pix_payload        text COLLATE "C",
    pix_image          text COLLATE "C",
    hold_until         timestamptz,
    paid_at            timestamptz,

    intent_open        boolean NOT NULL,
    recovery_tries     integer NOT NULL DEFAULT 0,
    recovery_at        timestamptz,

    created_at         timestamptz NOT NULL,
    updated_at         timestamptz NOT NULL,

    CONSTRAINT orders_quantity_positive CHECK (quantity >= 1),
    CONSTRAINT orders_total_is_product CHECK (total_cents = unit_price_cents * quantity AND unit_price_cents >= 0),
    CONSTRAINT orders_gateway_known CHECK (gateway IN ('gwa', 'gwb')),
    CONSTRAINT orders_payment_method_known CHECK (payment_method IN ('credit_card', 'pix')),
    CONSTRAINT orders_state_known CHECK (state IN ('reserved', 'paid', 'released', 'refund_due', 'refunded')),
    CONSTRAINT orders_free_has_no_gateway CHECK ((gateway IS NULL) = (total_cents = 0) AND (payment_method IS NULL) = (gateway IS NULL)),
    CONSTRAINT orders_reserved_is_held CHECK (state <> 'reserved' OR hold_until IS NOT NULL),
    CONSTRAINT orders_intent_has_recovery CHECK (intent_open = (recovery_at IS NOT NULL))
);
COMMENT ON TABLE tickets.orders IS 'One row a purchase, written with its places before the gateway is called.';
COMMENT ON COLUMN tickets.orders.customer_id IS 'Kept without a foreign key: the record of what was sold outlives the customer.';
COMMENT ON COLUMN tickets.orders.unit_price_cents IS 'Price of one ticket as it was sold.';
COMMENT ON COLUMN tickets.orders.payment_status IS 'The gateway''s own word, such as CONFIRMED, RECEIVED, PENDING, succeeded, requires_action, canceled. CONFIRMED for free orders.';
COMMENT ON COLUMN tickets.orders.state IS 'What holds here: reserved (places held, money open), paid, released (places given back unpaid), refund_due (money came and no place was left), refunded. The specification''s status is always pending.';
COMMENT ON COLUMN tickets.orders.without_login IS 'Bought as a guest: hidden from the account until its address is verified.';
COMMENT ON COLUMN tickets.orders.hold_until IS 'When unpaid places are given back.';
COMMENT ON COLUMN tickets.orders.intent_open IS 'The gateway was or is being asked and its answer is not written here yet.';
COMMENT ON COLUMN tickets.orders.recovery_at IS 'When the recovery job may next ask the gateway about an open intent.';

CREATE UNIQUE INDEX orders_gateway_payment_unique ON tickets.orders (gateway, gateway_payment_id) WHERE gateway_payment_id IS NOT NULL;
CREATE INDEX orders_by_customer ON tickets.orders (customer_id, created_at DESC);
CREATE INDEX orders_by_event ON tickets.orders (event_id);
CREATE INDEX orders_by_creation ON tickets.orders (created_at DESC);
CREATE INDEX orders_held ON tickets.orders (hold_until) WHERE state = 'reserved';
CREATE INDEX orders_open_intents ON tickets.orders (recovery_at) WHERE intent_open;

-- +goose Down
DROP TABLE tickets.orders;
