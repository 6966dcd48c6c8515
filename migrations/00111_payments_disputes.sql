-- +goose Up
CREATE TABLE payments.disputes (
    id                 platform.object_id PRIMARY KEY DEFAULT platform.new_object_id(),
    gateway            text NOT NULL,
    gateway_dispute_id text NOT NULL,
    payment_ref        text NOT NULL,
    purpose            text NOT NULL,
    local_id           platform.object_id NOT NULL,
    customer_id        platform.object_id NOT NULL,
    amount_cents       bigint NOT NULL,
    reason             text,
    state              text NOT NULL,
    native_status      text NOT NULL,
    event_id           text,
    opened_at          timestamptz NOT NULL,
    closed_at          timestamptz,
    reported_at        timestamptz NOT NULL,
    created_at         timestamptz NOT NULL,
    updated_at         timestamptz NOT NULL,
    CONSTRAINT disputes_one_row_per_gateway_dispute UNIQUE (gateway, gateway_dispute_id),
    CONSTRAINT disputes_gateway_known CHECK (gateway IN ('gwa', 'gwb')),
    CONSTRAINT disputes_purpose_known CHECK (purpose IN ('subscription', 'order')),
    CONSTRAINT disputes_state_known CHECK (state IN ('inquiry', 'open', 'won', 'lost', 'dismissed')),
    CONSTRAINT disputes_amount_not_negative CHECK (amount_cents >= 0),
    CONSTRAINT disputes_closed_has_time CHECK ((state IN ('won', 'lost', 'dismissed')) = (closed_at IS NOT NULL))
);
COMMENT ON TABLE payments.disputes IS 'One row a dispute (chargeback) of a card payment, also those that an admin enters by hand.';
COMMENT ON COLUMN payments.disputes.gateway_dispute_id IS 'Gateway B du_…; gateway A gives none and the payment''s id stands for it; MANUAL-<id> of one entered by hand.';
COMMENT ON COLUMN payments.disputes.payment_ref IS 'As payments.refunds.payment_ref.';
COMMENT ON COLUMN payments.disputes.state IS 'inquiry: asked, no money taken; open: money taken; won: given back; lost; dismissed: an inquiry that came to nothing.';
COMMENT ON COLUMN payments.disputes.reported_at IS 'The gateway''s instant of the report that the row shows; an older one changes nothing.';
CREATE INDEX disputes_by_local_row ON payments.disputes (purpose, local_id, opened_at DESC);
CREATE INDEX disputes_by_payment ON payments.disputes (gateway, payment_ref);
CREATE INDEX disputes_by_customer ON payments.disputes (customer_id, opened_at DESC);
CREATE INDEX disputes_by_time ON payments.disputes (opened_at);

-- +goose Down
DROP TABLE payments.disputes;
