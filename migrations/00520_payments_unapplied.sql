-- +goose Up
CREATE TABLE payments.unapplied_payments (
    id                 platform.object_id PRIMARY KEY DEFAULT platform.new_object_id(),
    kind               text NOT NULL,
    gateway            text NOT NULL,
    subject            text NOT NULL,
    gateway_payment_id text,
    amount_cents       bigint,
    customer_id        platform.object_id,
    subscription_id    platform.object_id,
    order_id           platform.object_id,
    paid_at            timestamptz,
    state              text NOT NULL DEFAULT 'open',
    note               text,
    automatic          boolean NOT NULL DEFAULT false,
    created_at         timestamptz NOT NULL,
    updated_at         timestamptz NOT NULL,
    CONSTRAINT unapplied_payments_one_row_per_subject UNIQUE (gateway, subject),
    CONSTRAINT unapplied_payments_gateway_known CHECK (gateway IN ('gwa', 'gwb')),
    CONSTRAINT unapplied_payments_kind_known CHECK (kind IN ('late', 'duplicate', 'foreign', 'unrefundable', 'unknown')),
    CONSTRAINT unapplied_payments_state_known CHECK (state IN ('open', 'refunding', 'refunded', 'extended', 'kept')),
    CONSTRAINT unapplied_payments_subject_is_payment CHECK (gateway_payment_id IS NULL OR gateway_payment_id = subject),
    CONSTRAINT unapplied_payments_unknown_alone_without_payment CHECK (gateway_payment_id IS NOT NULL OR kind = 'unknown'),
    CONSTRAINT unapplied_payments_unknown_alone_without_amount CHECK (amount_cents IS NOT NULL OR kind = 'unknown'),
    CONSTRAINT unapplied_payments_amount_not_negative CHECK (amount_cents >= 0)
);
COMMENT ON TABLE payments.unapplied_payments IS 'Money that gave nobody anything: what people decide on, and what was given back by itself.';
COMMENT ON COLUMN payments.unapplied_payments.kind IS 'late: for a row that has ended; duplicate: a second payment, or that of a recurrence beside the row''s own; foreign: booked for a row that another customer or recurrence owns; unrefundable: a refund of it failed or can never be made; unknown: an answer not known for a day, or money that nobody can place.';
COMMENT ON COLUMN payments.unapplied_payments.subject IS 'What the row is about: the payment as payments.payments.gateway_payment_id names it, else, of kind unknown, whatever tells the case apart, such as the gateway''s recurrence or our own id.';
COMMENT ON COLUMN payments.unapplied_payments.customer_id IS 'Kept without a foreign key, as in the ledger: it outlives the customer.';
COMMENT ON COLUMN payments.unapplied_payments.state IS 'open: nobody has decided; refunding: a refund is asked for; refunded: all of it is given back; extended: made a living subscription''s; kept: an admin says so.';
COMMENT ON COLUMN payments.unapplied_payments.automatic IS 'The platform may refund it by itself, after reading it live and within the limits.';
CREATE INDEX unapplied_payments_open ON payments.unapplied_payments (created_at) WHERE state IN ('open', 'refunding');
CREATE INDEX unapplied_payments_by_customer ON payments.unapplied_payments (customer_id, created_at DESC);

CREATE TABLE payments.unapplied_decisions (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    unapplied_id platform.object_id NOT NULL CONSTRAINT unapplied_decisions_payment_known REFERENCES payments.unapplied_payments (id),
    at           timestamptz NOT NULL,
    from_state   text,
    to_state     text NOT NULL,
    source       text NOT NULL,
    admin_id     platform.object_id,
    amount_cents bigint,
    reason       text,
    CONSTRAINT unapplied_decisions_from_known CHECK (from_state IN ('open', 'refunding', 'refunded', 'extended', 'kept')),
    CONSTRAINT unapplied_decisions_to_known CHECK (to_state IN ('open', 'refunding', 'refunded', 'extended', 'kept')),
    CONSTRAINT unapplied_decisions_moves CHECK (from_state IS DISTINCT FROM to_state),
    CONSTRAINT unapplied_decisions_source_known CHECK (source IN ('platform', 'admin', 'gateway')),
    CONSTRAINT unapplied_decisions_admin_named CHECK (source = 'admin' OR admin_id IS NULL)
);
COMMENT ON TABLE payments.unapplied_decisions IS 'Every change of an unapplied payment''s state, append-only. What the platform refunded by itself, and so its hourly and daily limits, is counted from here.';
COMMENT ON COLUMN payments.unapplied_decisions.from_state IS 'Null for the row that began it.';
COMMENT ON COLUMN payments.unapplied_decisions.source IS 'platform: by itself; admin: a person; gateway: it followed from what the ledger of refunds was told.';
COMMENT ON COLUMN payments.unapplied_decisions.amount_cents IS 'The payment''s, as far as it is known.';
CREATE INDEX unapplied_decisions_by_payment ON payments.unapplied_decisions (unapplied_id, id);
CREATE INDEX unapplied_decisions_automatic ON payments.unapplied_decisions (at) WHERE source = 'platform' AND to_state = 'refunding';

-- +goose StatementBegin
CREATE FUNCTION payments.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'payments.% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION payments.refuse_change() IS 'Keeps a history append-only, also against people at psql.';

CREATE TRIGGER unapplied_decisions_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON payments.unapplied_decisions
    FOR EACH STATEMENT EXECUTE FUNCTION payments.refuse_change();

-- +goose Down
DROP TABLE payments.unapplied_decisions;
DROP TABLE payments.unapplied_payments;
DROP FUNCTION payments.refuse_change();
