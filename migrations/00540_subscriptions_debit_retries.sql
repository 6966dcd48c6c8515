-- +goose Up
ALTER TABLE subscriptions.debits
    ADD COLUMN paid_at   timestamptz,
    ADD COLUMN failed_at timestamptz,
    ADD COLUMN failure   text,
    ADD COLUMN retryable boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN subscriptions.debits.due_date IS 'The day on which it is to be taken, as the gateway took the order.';
COMMENT ON COLUMN subscriptions.debits.paid_at IS 'When its money was booked.';
COMMENT ON COLUMN subscriptions.debits.failed_at IS 'When we heard first that its day passed without money, or that it was taken back. A retry, or its PIX code, may pay it all the same.';
COMMENT ON COLUMN subscriptions.debits.failure IS 'The gateway''s word for the last failure.';
COMMENT ON COLUMN subscriptions.debits.retryable IS 'Whether the bank may be asked again: not after a final reason, nor after the payer took it back.';
CREATE TABLE subscriptions.debit_retries (
    subscription_id platform.object_id NOT NULL,
    cycle           date NOT NULL,
    retry_date      date NOT NULL,
    state           text NOT NULL,
    reason          text,
    order_id        text COLLATE "C",
    tried_at        timestamptz,
    ordered_at      timestamptz,
    ended_at        timestamptz,
    register_date   timestamptz NOT NULL,
    CONSTRAINT debit_retries_one_a_day PRIMARY KEY (subscription_id, cycle, retry_date),
    CONSTRAINT debit_retries_of_debit FOREIGN KEY (subscription_id, cycle) REFERENCES subscriptions.debits (subscription_id, cycle),
    CONSTRAINT debit_retries_state_known CHECK (state IN ('planned', 'ordered', 'refused', 'paid', 'dropped')),
    CONSTRAINT debit_retries_ended CHECK ((state IN ('planned', 'ordered')) = (ended_at IS NULL)),
    CONSTRAINT debit_retries_ordered CHECK (state <> 'ordered' OR ordered_at IS NOT NULL)
);
CREATE UNIQUE INDEX debit_retries_one_ordered ON subscriptions.debit_retries (subscription_id, cycle) WHERE state = 'ordered';
CREATE INDEX debit_retries_planned ON subscriptions.debit_retries (retry_date) WHERE state = 'planned';
COMMENT ON TABLE subscriptions.debit_retries IS 'The days on which a debit of automatic PIX that failed is to be taken again, one row each, planned when it fails.';
COMMENT ON COLUMN subscriptions.debit_retries.state IS 'planned; ordered at the gateway; then refused by the bank, or paid. dropped: it is ordered no more.';
COMMENT ON COLUMN subscriptions.debit_retries.reason IS 'Why it was refused or dropped.';
COMMENT ON COLUMN subscriptions.debit_retries.order_id IS 'The gateway''s id of the order.';
COMMENT ON COLUMN subscriptions.debit_retries.tried_at IS 'When somebody last set about ordering it.';

-- +goose Down
DROP TABLE subscriptions.debit_retries;
ALTER TABLE subscriptions.debits DROP COLUMN paid_at, DROP COLUMN failed_at, DROP COLUMN failure, DROP COLUMN retryable;
COMMENT ON COLUMN subscriptions.debits.due_date IS 'The day on which it is to be taken.';
