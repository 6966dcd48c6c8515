-- +goose Up
CREATE TABLE subscriptions.subscriptions (
    id                     platform.object_id PRIMARY KEY,
    customer_id            platform.object_id NOT NULL,
    plan_id                text COLLATE "C" NOT NULL CONSTRAINT subscriptions_plan_known REFERENCES subscriptions.plans (plan_id),
    gateway                text COLLATE "C" NOT NULL,
    payment_method         text COLLATE "C" NOT NULL,
    status                 text COLLATE "C" NOT NULL,
    price_cents            bigint NOT NULL,
    period_months          integer NOT NULL,
    trial_days             integer NOT NULL DEFAULT 0,

    gwa_subscription_id    text COLLATE "C",
    gwa_customer_id        text COLLATE "C",
    gwa_pix_auth_id        text COLLATE "C",
    gwb_subscription_id    text COLLATE "C",
    gwb_customer_id        text COLLATE "C",
    gwb_price_id           text COLLATE "C",

    pix_payment_id         text COLLATE "C",
    pix_payload            text COLLATE "C",
    pix_image              text COLLATE "C",
    pix_expires_at         timestamptz,

    started_at             timestamptz,
    next_billing_date      timestamptz,
    last_payment_at        timestamptz,
    expires_at             timestamptz,
    ended_at               timestamptz,
    gateway_deleted_at     timestamptz,
    cancel_at_period_end   boolean NOT NULL DEFAULT false,
    payment_failures       integer NOT NULL DEFAULT 0,
    total_refunded_cents   bigint NOT NULL DEFAULT 0,
    has_chargeback         boolean NOT NULL DEFAULT false,

    intent_open            boolean NOT NULL,
    recovery_tries         integer NOT NULL DEFAULT 0,
    recovery_at            timestamptz,
    last_event_at          timestamptz,
    last_event_id          text COLLATE "C",
    last_paid_invoice_id   text COLLATE "C",

    document_created_by_id platform.object_id,
    register_date          timestamptz NOT NULL,
    register_update_date   timestamptz NOT NULL,

    CONSTRAINT subscriptions_gateway_known CHECK (gateway IN ('gwa', 'gwb')),
    CONSTRAINT subscriptions_payment_method_known CHECK (payment_method IN ('credit_card', 'pix', 'boleto')),
    CONSTRAINT subscriptions_status_known CHECK (status IN ('active', 'pending', 'suspended', 'cancelled', 'expired')),
    CONSTRAINT subscriptions_price_not_negative CHECK (price_cents >= 0),
    CONSTRAINT subscriptions_period_positive CHECK (period_months >= 1),
    CONSTRAINT subscriptions_trial_days_not_negative CHECK (trial_days >= 0),
    CONSTRAINT subscriptions_failures_not_negative CHECK (payment_failures >= 0),
    CONSTRAINT subscriptions_refunded_not_negative CHECK (total_refunded_cents >= 0),
    CONSTRAINT subscriptions_ended_when_terminal CHECK ((ended_at IS NOT NULL) = (status IN ('cancelled', 'expired'))),
    CONSTRAINT subscriptions_intent_has_recovery CHECK (intent_open = (recovery_at IS NOT NULL))
);
COMMENT ON TABLE subscriptions.subscriptions IS 'One row a wish to subscribe, written before the gateway is called.';
COMMENT ON COLUMN subscriptions.subscriptions.customer_id IS 'Kept without a foreign key: the record of what was sold outlives the customer.';
COMMENT ON COLUMN subscriptions.subscriptions.price_cents IS 'Price of one month as it was sold; a later change of the plan does not move it.';
COMMENT ON COLUMN subscriptions.subscriptions.period_months IS 'Months that one payment buys: 1 by card, the configured period by PIX.';
COMMENT ON COLUMN subscriptions.subscriptions.trial_days IS 'Free days that this subscription began with; 0 without a trial.';
COMMENT ON COLUMN subscriptions.subscriptions.pix_payment_id IS 'The PIX payment at the gateway (gateway A: pay_, gateway B: pi_).';
COMMENT ON COLUMN subscriptions.subscriptions.pix_image IS 'PNG of the QR code in base64, without a data: prefix.';
COMMENT ON COLUMN subscriptions.subscriptions.expires_at IS 'End of access. Null while a recurrence runs.';
COMMENT ON COLUMN subscriptions.subscriptions.ended_at IS 'When it became cancelled or expired.';
COMMENT ON COLUMN subscriptions.subscriptions.gateway_deleted_at IS 'Set when the gateway deleted a subscription whose paid period is still running.';
COMMENT ON COLUMN subscriptions.subscriptions.payment_failures IS 'Failures in a row; a payment resets it.';
COMMENT ON COLUMN subscriptions.subscriptions.total_refunded_cents IS 'Sum of the refund ledger, rewritten with each refund, never incremented from an event.';
COMMENT ON COLUMN subscriptions.subscriptions.intent_open IS 'The gateway was or is being asked and its answer is not written here yet.';
COMMENT ON COLUMN subscriptions.subscriptions.recovery_at IS 'When the recovery job may next ask the gateway about an open intent.';
COMMENT ON COLUMN subscriptions.subscriptions.last_event_at IS 'The gateway''s instant of the newest status event applied; older ones are ignored.';
COMMENT ON COLUMN subscriptions.subscriptions.last_paid_invoice_id IS 'Newest invoice known to be paid; a failure of it that comes late does not count.';

CREATE UNIQUE INDEX subscriptions_one_live_per_customer ON subscriptions.subscriptions (customer_id) WHERE status IN ('active', 'pending', 'suspended');
CREATE UNIQUE INDEX subscriptions_gwa_subscription_unique ON subscriptions.subscriptions (gwa_subscription_id) WHERE gwa_subscription_id IS NOT NULL;
CREATE UNIQUE INDEX subscriptions_gwa_pix_auth_unique ON subscriptions.subscriptions (gwa_pix_auth_id) WHERE gwa_pix_auth_id IS NOT NULL;
CREATE UNIQUE INDEX subscriptions_gwb_subscription_unique ON subscriptions.subscriptions (gwb_subscription_id) WHERE gwb_subscription_id IS NOT NULL;
CREATE UNIQUE INDEX subscriptions_pix_payment_unique ON subscriptions.subscriptions (gateway, pix_payment_id) WHERE pix_payment_id IS NOT NULL;
CREATE INDEX subscriptions_by_customer ON subscriptions.subscriptions (customer_id, register_date DESC);
CREATE INDEX subscriptions_by_gateway_status ON subscriptions.subscriptions (gateway, status);
CREATE INDEX subscriptions_by_expiry ON subscriptions.subscriptions (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX subscriptions_by_plan ON subscriptions.subscriptions (plan_id);
CREATE INDEX subscriptions_by_update ON subscriptions.subscriptions (register_update_date DESC, id);
CREATE INDEX subscriptions_open_intents ON subscriptions.subscriptions (recovery_at) WHERE intent_open;

-- +goose Down
DROP TABLE subscriptions.subscriptions;
