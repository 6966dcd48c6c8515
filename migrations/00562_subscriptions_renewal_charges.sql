-- +goose Up
CREATE TABLE subscriptions.renewal_charges (
    id                   platform.object_id PRIMARY KEY,
    subscription_id      platform.object_id NOT NULL CONSTRAINT renewal_charges_subscription_known REFERENCES subscriptions.subscriptions (id),
    customer_id          platform.object_id NOT NULL,
    gateway              text COLLATE "C" NOT NULL CONSTRAINT renewal_charges_gateway_known CHECK (gateway IN ('gwa', 'gwb')),
    cycle                date,
    amount_cents         bigint NOT NULL CONSTRAINT renewal_charges_amount_positive CHECK (amount_cents > 0),
    state                text COLLATE "C" NOT NULL CONSTRAINT renewal_charges_state_known CHECK (state IN ('open', 'paid', 'unapplied', 'gone')),
    payable_until        timestamptz NOT NULL,
    intent_open          boolean NOT NULL,
    look_at              timestamptz,
    misses               integer NOT NULL DEFAULT 0,
    gateway_payment_id   text COLLATE "C",
    pix_payload          text COLLATE "C",
    pix_image            text COLLATE "C",
    pix_expires_at       timestamptz,
    moved_from           timestamptz,
    moved_to             timestamptz,
    register_date        timestamptz NOT NULL,
    register_update_date timestamptz NOT NULL,
    CONSTRAINT renewal_charges_intent_has_look CHECK (intent_open = (look_at IS NOT NULL)),
    CONSTRAINT renewal_charges_intent_is_open CHECK (NOT intent_open OR state = 'open'),
    CONSTRAINT renewal_charges_paid_moves_the_end CHECK ((state = 'paid') = (moved_to IS NOT NULL))
);
COMMENT ON TABLE subscriptions.renewal_charges IS 'PIX codes that pay a further period of a subscription, written before the gateway is asked; the id is what the gateway is told as our reference.';
COMMENT ON COLUMN subscriptions.renewal_charges.cycle IS 'Of automatic PIX: the day, in REPORT_TZ, on which the period begins that the code pays in place of the debit. Null: the next period of a manual PIX.';
COMMENT ON COLUMN subscriptions.renewal_charges.state IS 'open: it may be paid, or is being ordered. paid: it moved the end. unapplied: paid when nothing could take it. gone: it can no longer be paid.';
COMMENT ON COLUMN subscriptions.renewal_charges.payable_until IS 'Until when the gateway is asked to take the code.';
COMMENT ON COLUMN subscriptions.renewal_charges.look_at IS 'When the gateway may next be asked what became of the order.';
COMMENT ON COLUMN subscriptions.renewal_charges.moved_from IS 'The end of the paid time before the payment; null where the subscription had ended.';
COMMENT ON COLUMN subscriptions.renewal_charges.moved_to IS 'The end of the paid time that the payment gave.';
CREATE UNIQUE INDEX renewal_charges_one_open ON subscriptions.renewal_charges (subscription_id, coalesce(cycle, '-infinity'::date)) WHERE state = 'open';
CREATE UNIQUE INDEX renewal_charges_one_per_payment ON subscriptions.renewal_charges (gateway, gateway_payment_id) WHERE gateway_payment_id IS NOT NULL;
CREATE INDEX renewal_charges_open ON subscriptions.renewal_charges (register_date) WHERE state = 'open';
CREATE INDEX renewal_charges_by_customer ON subscriptions.renewal_charges (customer_id);

-- +goose Down
DROP TABLE subscriptions.renewal_charges;
