-- +goose Up
CREATE TABLE subscriptions.debits (
    subscription_id    platform.object_id NOT NULL CONSTRAINT debits_subscription_known REFERENCES subscriptions.subscriptions (id),
    cycle              date NOT NULL,
    due_date           date NOT NULL,
    amount_cents       bigint NOT NULL,
    gateway_payment_id text COLLATE "C",
    register_date      timestamptz NOT NULL,
    ordered_at         timestamptz,
    CONSTRAINT debits_one_per_cycle PRIMARY KEY (subscription_id, cycle),
    CONSTRAINT debits_payment_unique UNIQUE (gateway_payment_id),
    CONSTRAINT debits_amount_positive CHECK (amount_cents > 0),
    CONSTRAINT debits_ordered_has_payment CHECK ((gateway_payment_id IS NULL) = (ordered_at IS NULL))
);
COMMENT ON TABLE subscriptions.debits IS 'Debits of automatic PIX, one a cycle, written before the gateway is asked for it.';
COMMENT ON COLUMN subscriptions.debits.cycle IS 'The day, in REPORT_TZ, on which the period begins that the debit pays.';
COMMENT ON COLUMN subscriptions.debits.due_date IS 'The day on which it is to be taken.';
COMMENT ON COLUMN subscriptions.debits.ordered_at IS 'When the gateway took the order; null while its answer is not known.';

-- +goose Down
DROP TABLE subscriptions.debits;
