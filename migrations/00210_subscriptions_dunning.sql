-- +goose Up
CREATE TABLE subscriptions.dunning_mails (
    subscription_id platform.object_id NOT NULL CONSTRAINT dunning_mails_subscription_known REFERENCES subscriptions.subscriptions (id),
    payment_id      text COLLATE "C" NOT NULL,
    day             integer NOT NULL,
    amount_cents    bigint NOT NULL,
    due_at          timestamptz NOT NULL,
    claimed_at      timestamptz,
    sent_at         timestamptz,
    dropped_at      timestamptz,
    register_date   timestamptz NOT NULL,
    CONSTRAINT dunning_mails_once_a_day PRIMARY KEY (subscription_id, payment_id, day),
    CONSTRAINT dunning_mails_day_not_negative CHECK (day >= 0),
    CONSTRAINT dunning_mails_amount_not_negative CHECK (amount_cents >= 0),
    CONSTRAINT dunning_mails_sent_or_dropped CHECK (sent_at IS NULL OR dropped_at IS NULL)
);
COMMENT ON TABLE subscriptions.dunning_mails IS 'Mails about failed payments, one a (payment, day), written in the transaction that recorded the failure.';
COMMENT ON COLUMN subscriptions.dunning_mails.payment_id IS 'The payment at the gateway that failed: the invoice at gateway B, the charge at gateway A.';
COMMENT ON COLUMN subscriptions.dunning_mails.day IS 'Days after the failure.';
COMMENT ON COLUMN subscriptions.dunning_mails.claimed_at IS 'Since when a job has it in hand; after some minutes it counts as lost.';
COMMENT ON COLUMN subscriptions.dunning_mails.dropped_at IS 'When it turned out that nothing is left to be asked for: paid, ended, disputed, or the customer is gone.';

CREATE INDEX dunning_mails_waiting ON subscriptions.dunning_mails (due_at) WHERE sent_at IS NULL AND dropped_at IS NULL;

-- +goose Down
DROP TABLE subscriptions.dunning_mails;
