-- +goose Up
CREATE SCHEMA payments;
COMMENT ON SCHEMA payments IS 'Money as the gateways tell it: settled payments, failed attempts, webhook log, processed events.';

CREATE TABLE payments.payments (
    id                 platform.object_id PRIMARY KEY DEFAULT platform.new_object_id(),
    gateway            text NOT NULL,
    gateway_payment_id text NOT NULL,
    invoice_id         text,
    payment_intent_id  text,
    purpose            text NOT NULL,
    local_id           platform.object_id NOT NULL,
    customer_id        platform.object_id NOT NULL,
    amount_cents       bigint NOT NULL,
    method             text NOT NULL,
    native_status      text NOT NULL,
    settled_at         timestamptz NOT NULL,
    created_at         timestamptz NOT NULL,
    updated_at         timestamptz NOT NULL,
    CONSTRAINT payments_one_row_per_gateway_payment UNIQUE (gateway, gateway_payment_id),
    CONSTRAINT payments_gateway_known CHECK (gateway IN ('gwa', 'gwb')),
    CONSTRAINT payments_purpose_known CHECK (purpose IN ('subscription', 'order')),
    CONSTRAINT payments_method_known CHECK (method IN ('credit_card', 'pix', 'boleto')),
    CONSTRAINT payments_amount_not_negative CHECK (amount_cents >= 0)
);
COMMENT ON TABLE payments.payments IS 'The ledger: one row a settled gateway payment. Totals are derived from it.';
COMMENT ON COLUMN payments.payments.gateway_payment_id IS 'Gateway A: pay_…. Gateway B: the invoice in_… when there is one, else the payment intent pi_…, so that the synchronous answer and invoice.paid end in one row.';
COMMENT ON COLUMN payments.payments.payment_intent_id IS 'Gateway B, once known: newer invoice events do not tell it.';
COMMENT ON COLUMN payments.payments.local_id IS 'The subscription or order, by purpose. No foreign key: both belong to upper modules, and the ledger outlives them.';
COMMENT ON COLUMN payments.payments.customer_id IS 'Kept without a foreign key: the money record outlives the customer.';
COMMENT ON COLUMN payments.payments.native_status IS 'The gateway''s own word, such as CONFIRMED, RECEIVED, succeeded, paid.';
COMMENT ON COLUMN payments.payments.settled_at IS 'When the money counted: approved or received, whichever was first.';
CREATE INDEX payments_by_local_row ON payments.payments (purpose, local_id, settled_at DESC);
CREATE INDEX payments_by_customer ON payments.payments (customer_id, settled_at DESC);
CREATE INDEX payments_by_payment_intent ON payments.payments (payment_intent_id) WHERE payment_intent_id IS NOT NULL;

CREATE TABLE payments.failed_attempts (
    id                 platform.object_id PRIMARY KEY DEFAULT platform.new_object_id(),
    gateway            text NOT NULL,
    gateway_payment_id text NOT NULL,
    attempt            integer NOT NULL,
    purpose            text NOT NULL,
    local_id           platform.object_id NOT NULL,
    amount_cents       bigint NOT NULL,
    failed_at          timestamptz NOT NULL,
    created_at         timestamptz NOT NULL,
    CONSTRAINT failed_attempts_one_row_per_attempt UNIQUE (gateway, gateway_payment_id, attempt),
    CONSTRAINT failed_attempts_gateway_known CHECK (gateway IN ('gwa', 'gwb')),
    CONSTRAINT failed_attempts_purpose_known CHECK (purpose IN ('subscription', 'order')),
    CONSTRAINT failed_attempts_attempt_not_negative CHECK (attempt >= 0)
);
COMMENT ON TABLE payments.failed_attempts IS 'One row a failed attempt to take a payment, so that a failure reported by several events counts once.';
COMMENT ON COLUMN payments.failed_attempts.attempt IS 'Counted by the gateway from 1; 0 while the number has not been told.';
CREATE INDEX failed_attempts_by_local_row ON payments.failed_attempts (purpose, local_id, failed_at DESC);

-- +goose Down
DROP TABLE payments.failed_attempts;
DROP TABLE payments.payments;
DROP SCHEMA payments;
