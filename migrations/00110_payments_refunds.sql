-- +goose Up
CREATE TABLE payments.refunds (
    id                platform.object_id PRIMARY KEY DEFAULT platform.new_object_id(),
    gateway           text NOT NULL,
    payment_ref       text NOT NULL,
    gateway_refund_id text,
    purpose           text NOT NULL,
    local_id          platform.object_id NOT NULL,
    customer_id       platform.object_id NOT NULL,
    amount_cents      bigint NOT NULL,
    status            text NOT NULL,
    source            text NOT NULL,
    event_id          text NOT NULL,
    event_type        text NOT NULL,
    reason            text,
    admin             text,
    admin_id          platform.object_id,
    failure           text,
    requested_at      timestamptz NOT NULL,
    refunded_at       timestamptz,
    created_at        timestamptz NOT NULL,
    updated_at        timestamptz NOT NULL,
    CONSTRAINT refunds_one_row_per_gateway_refund UNIQUE (gateway, gateway_refund_id),
    CONSTRAINT refunds_gateway_known CHECK (gateway IN ('gwa', 'gwb')),
    CONSTRAINT refunds_purpose_known CHECK (purpose IN ('subscription', 'order')),
    CONSTRAINT refunds_amount_positive CHECK (amount_cents > 0),
    CONSTRAINT refunds_status_known CHECK (status IN ('requested', 'pending', 'done', 'failed')),
    CONSTRAINT refunds_source_known CHECK (source IN ('admin', 'gateway')),
    CONSTRAINT refunds_done_has_time CHECK (status <> 'done' OR refunded_at IS NOT NULL)
);
COMMENT ON TABLE payments.refunds IS 'The ledger of money given back: the done rows of a payment add up to what its gateway says.';
COMMENT ON COLUMN payments.refunds.payment_ref IS 'Gateway A: pay_…. Gateway B: the payment intent pi_…, which its refunds and disputes name, else the charge.';
COMMENT ON COLUMN payments.refunds.gateway_refund_id IS 'Gateway B re_…, once known; gateway A gives refunds no id.';
COMMENT ON COLUMN payments.refunds.status IS 'requested: committed before the gateway is asked; pending: it is at it; done: the money counts as given back.';
COMMENT ON COLUMN payments.refunds.source IS 'admin: asked for here, by an admin or by the platform itself; gateway: learned from the gateway.';
COMMENT ON COLUMN payments.refunds.event_id IS 'REFUND-<local id>-<unix milliseconds> of a refund asked for here, else the gateway''s event id.';
CREATE INDEX refunds_by_local_row ON payments.refunds (purpose, local_id, requested_at DESC);
CREATE INDEX refunds_by_payment ON payments.refunds (gateway, payment_ref);
CREATE INDEX refunds_by_customer ON payments.refunds (customer_id, requested_at DESC);
CREATE INDEX refunds_by_time ON payments.refunds (refunded_at) WHERE status = 'done';
CREATE INDEX refunds_unanswered ON payments.refunds (requested_at) WHERE status IN ('requested', 'pending');

CREATE TABLE payments.refund_reports (
    gateway      text NOT NULL,
    payment_ref  text NOT NULL,
    kind         text NOT NULL,
    refund_id    text NOT NULL,
    reported_at  timestamptz NOT NULL,
    amount_cents bigint NOT NULL,
    CONSTRAINT refund_reports_each_once PRIMARY KEY (gateway, payment_ref, kind, refund_id, reported_at, amount_cents),
    CONSTRAINT refund_reports_gateway_known CHECK (gateway IN ('gwa', 'gwb')),
    CONSTRAINT refund_reports_kind_known CHECK (kind IN ('total', 'single', 'failed')),
    CONSTRAINT refund_reports_amount_not_negative CHECK (amount_cents >= 0)
);
COMMENT ON TABLE payments.refund_reports IS 'What the gateways said of refunds, as a set: what has been given back follows from the set alone, whatever the order and number of deliveries.';
COMMENT ON COLUMN payments.refund_reports.kind IS 'total: all that was given back of the payment until then; single: one refund; failed: one refund that came to nothing after it had been counted.';
COMMENT ON COLUMN payments.refund_reports.refund_id IS 'Of single and failed; empty for total.';
COMMENT ON COLUMN payments.refund_reports.reported_at IS 'By the gateway''s clock.';

-- +goose Down
DROP TABLE payments.refund_reports;
DROP TABLE payments.refunds;
