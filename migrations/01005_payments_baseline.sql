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
    counted            boolean,
    due_at             timestamptz,
    shown_at           timestamptz,
    CONSTRAINT payments_one_row_per_gateway_payment UNIQUE (gateway, gateway_payment_id),
    CONSTRAINT payments_gateway_known CHECK (gateway IN ('gwa', 'gwb')),
    CONSTRAINT payments_method_known CHECK (method IN ('credit_card', 'pix', 'boleto')),
    CONSTRAINT payments_amount_not_negative CHECK (amount_cents >= 0),
    CONSTRAINT payments_amount_bounded CHECK (amount_cents <= 100000000000),
    CONSTRAINT payments_purpose_known CHECK (purpose IN ('subscription', 'order') OR purpose = 'customer' AND local_id = customer_id)
);
COMMENT ON TABLE payments.payments IS 'The ledger: one row a settled gateway payment. Totals are derived from it.';
COMMENT ON COLUMN payments.payments.gateway_payment_id IS 'Gateway A: pay_…. Gateway B: the invoice in_… when there is one, else the payment intent pi_…, so that the synchronous answer and invoice.paid end in one row.';
COMMENT ON COLUMN payments.payments.payment_intent_id IS 'Gateway B, once known: newer invoice events do not tell it.';
COMMENT ON COLUMN payments.payments.purpose IS 'customer: money of a customer of ours that is of no subscription and no order; it stands on the list of unapplied payments and counts in no figure.';
COMMENT ON COLUMN payments.payments.local_id IS 'The subscription, order or customer, by purpose. No foreign key: they belong to other modules, and the ledger outlives them.';
COMMENT ON COLUMN payments.payments.customer_id IS 'Kept without a foreign key: the money record outlives the customer.';
COMMENT ON COLUMN payments.payments.native_status IS 'The gateway''s own word, such as CONFIRMED, RECEIVED, succeeded, paid.';
COMMENT ON COLUMN payments.payments.settled_at IS 'When the money counted: approved or received, whichever was first.';
COMMENT ON COLUMN payments.payments.counted IS 'Of a subscription''s payment: whether it opened the subscription or paid one of its periods. False: it gave nothing, and stands on the list of unapplied payments. NULL: of an order, or booked before this was kept.';
COMMENT ON COLUMN payments.payments.due_at IS 'Of gateway A: the beginning, in São Paulo, of the day for which the charge was made first, wherever its due date was moved since. NULL: of gateway B, or booked before this was kept.';
COMMENT ON COLUMN payments.payments.shown_at IS 'When the gateway was asked for it first and showed it paid. NULL: only an event has told it, or it was booked before this was kept.';
CREATE INDEX payments_by_local_row ON payments.payments (purpose, local_id, settled_at DESC);
CREATE INDEX payments_by_customer ON payments.payments (customer_id, settled_at DESC);
CREATE INDEX payments_by_payment_intent ON payments.payments (payment_intent_id) WHERE payment_intent_id IS NOT NULL;
CREATE INDEX payments_by_time ON payments.payments (settled_at);
COMMENT ON INDEX payments.payments_by_time IS 'For reports and exports of a period.';

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
    CONSTRAINT failed_attempts_attempt_not_negative CHECK (attempt >= 0),
    CONSTRAINT failed_attempts_amount_bounded CHECK (amount_cents <= 100000000000)
);
COMMENT ON TABLE payments.failed_attempts IS 'One row a failed attempt to take a payment, so that a failure reported by several events counts once.';
COMMENT ON COLUMN payments.failed_attempts.attempt IS 'Counted by the gateway from 1; 0 while the number has not been told.';
CREATE INDEX failed_attempts_by_local_row ON payments.failed_attempts (purpose, local_id, failed_at DESC);
CREATE INDEX failed_attempts_by_time ON payments.failed_attempts (failed_at);
COMMENT ON INDEX payments.failed_attempts_by_time IS 'For reports and exports of a period.';

CREATE TABLE payments.processed_events (
    gateway    text NOT NULL,
    event_id   text NOT NULL,
    log_id     platform.object_id NOT NULL,
    state      text NOT NULL,
    subjects   text[] NOT NULL DEFAULT '{}',
    result     jsonb NOT NULL,
    event_at   timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    CONSTRAINT processed_events_one_row_per_gateway_event PRIMARY KEY (gateway, event_id),
    CONSTRAINT processed_events_state_known CHECK (state IN ('applying', 'done', 'queued', 'waiting'))
);
COMMENT ON TABLE payments.processed_events IS 'One row a gateway event: whoever inserts it applies the event, everybody else takes its result.';
COMMENT ON COLUMN payments.processed_events.log_id IS 'The log whose payload is applied again by retries and replays. Of a done event it may be gone by retention; the key stays, and with it the event is known for good.';
COMMENT ON COLUMN payments.processed_events.state IS 'applying: only inside the transaction that inserts; done: final; queued: applying failed and a job tries again; waiting: no local row knows its subject yet.';
COMMENT ON COLUMN payments.processed_events.subjects IS 'Ids by which a waiting event is found once a local row learns one of them.';
COMMENT ON COLUMN payments.processed_events.event_at IS 'When it happened, by the gateway''s clock.';
CREATE INDEX processed_events_waiting ON payments.processed_events USING gin (subjects) WHERE state = 'waiting';
CREATE INDEX processed_events_open ON payments.processed_events (gateway, event_id) WHERE state IN ('queued', 'waiting');
COMMENT ON INDEX payments.processed_events_open IS 'Events not applied yet, whose logs outlive their month.';

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
    kind              text NOT NULL DEFAULT 'refund',
    CONSTRAINT refunds_one_row_per_gateway_refund UNIQUE (gateway, gateway_refund_id),
    CONSTRAINT refunds_gateway_known CHECK (gateway IN ('gwa', 'gwb')),
    CONSTRAINT refunds_amount_positive CHECK (amount_cents > 0),
    CONSTRAINT refunds_status_known CHECK (status IN ('requested', 'pending', 'done', 'failed')),
    CONSTRAINT refunds_done_has_time CHECK (status <> 'done' OR refunded_at IS NOT NULL),
    CONSTRAINT refunds_kind_known CHECK (kind IN ('refund', 'med')),
    CONSTRAINT refunds_amount_bounded CHECK (amount_cents <= 100000000000),
    CONSTRAINT refunds_purpose_known CHECK (purpose IN ('subscription', 'order') OR purpose = 'customer' AND local_id = customer_id),
    CONSTRAINT refunds_source_known CHECK (source IN ('admin', 'platform', 'gateway'))
);
COMMENT ON TABLE payments.refunds IS 'The ledger of money given back: the done rows of a payment add up to what its gateway says.';
COMMENT ON COLUMN payments.refunds.payment_ref IS 'Gateway A: pay_…. Gateway B: the payment intent pi_…, which its refunds and disputes name, else the charge.';
COMMENT ON COLUMN payments.refunds.gateway_refund_id IS 'Gateway B re_…, once known; gateway A gives refunds no id.';
COMMENT ON COLUMN payments.refunds.status IS 'requested: committed before the gateway is asked; pending: it is at it; done: the money counts as given back.';
COMMENT ON COLUMN payments.refunds.source IS 'admin: asked for here by an admin; platform: asked for here by itself, or because a customer withdrew; gateway: learned from the gateway.';
COMMENT ON COLUMN payments.refunds.event_id IS 'REFUND-<local id>-<unix milliseconds> of a refund asked for here, else the gateway''s event id.';
COMMENT ON COLUMN payments.refunds.kind IS 'refund; med: of a PIX, and nobody here asked for it: the payer''s bank took it back. A whole PIX of a subscription that was taken back stands in payments.disputes instead.';
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
    CONSTRAINT refund_reports_amount_not_negative CHECK (amount_cents >= 0),
    CONSTRAINT refund_reports_amount_bounded CHECK (amount_cents <= 100000000000)
);
COMMENT ON TABLE payments.refund_reports IS 'What the gateways said of refunds, as a set: what has been given back follows from the set alone, whatever the order and number of deliveries.';
COMMENT ON COLUMN payments.refund_reports.kind IS 'total: all that was given back of the payment until then; single: one refund; failed: one refund that came to nothing after it had been counted.';
COMMENT ON COLUMN payments.refund_reports.refund_id IS 'Of single and failed; empty for total.';
COMMENT ON COLUMN payments.refund_reports.reported_at IS 'By the gateway''s clock.';

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
    kind               text NOT NULL DEFAULT 'chargeback',
    CONSTRAINT disputes_one_row_per_gateway_dispute UNIQUE (gateway, gateway_dispute_id),
    CONSTRAINT disputes_gateway_known CHECK (gateway IN ('gwa', 'gwb')),
    CONSTRAINT disputes_amount_not_negative CHECK (amount_cents >= 0),
    CONSTRAINT disputes_kind_known CHECK (kind IN ('chargeback', 'med')),
    CONSTRAINT disputes_state_known CHECK (state IN ('inquiry', 'open', 'won', 'lost', 'dismissed', 'withdrawn')),
    CONSTRAINT disputes_closed_has_time CHECK ((state IN ('won', 'lost', 'dismissed', 'withdrawn')) = (closed_at IS NOT NULL)),
    CONSTRAINT disputes_withdrawn_by_hand CHECK (state <> 'withdrawn' OR native_status = 'reported_by_admin'),
    CONSTRAINT disputes_amount_bounded CHECK (amount_cents <= 100000000000),
    CONSTRAINT disputes_purpose_known CHECK (purpose IN ('subscription', 'order') OR purpose = 'customer' AND local_id = customer_id)
);
COMMENT ON TABLE payments.disputes IS 'One row a dispute (chargeback) of a card payment, also those that an admin enters by hand.';
COMMENT ON COLUMN payments.disputes.gateway_dispute_id IS 'Gateway B du_…; gateway A gives none and the payment''s id stands for it; MANUAL-<id> of one entered by hand.';
COMMENT ON COLUMN payments.disputes.payment_ref IS 'As payments.refunds.payment_ref.';
COMMENT ON COLUMN payments.disputes.state IS 'inquiry: asked, no money taken; open: money taken; won: given back; lost; dismissed: an inquiry that came to nothing; withdrawn: an admin entered it by mistake, and it counts nowhere.';
COMMENT ON COLUMN payments.disputes.reported_at IS 'The gateway''s instant of the report that the row shows; an older one changes nothing.';
COMMENT ON COLUMN payments.disputes.kind IS 'chargeback: a card holder''s; med: the payer''s bank took a whole PIX of a subscription back (Mecanismo Especial de Devolução), opened and lost in one step.';
CREATE INDEX disputes_by_local_row ON payments.disputes (purpose, local_id, opened_at DESC);
CREATE INDEX disputes_by_payment ON payments.disputes (gateway, payment_ref);
CREATE INDEX disputes_by_customer ON payments.disputes (customer_id, opened_at DESC);
CREATE INDEX disputes_by_time ON payments.disputes (opened_at);

CREATE TABLE payments.webhook_logs (
    id              platform.object_id NOT NULL DEFAULT platform.new_object_id(),
    gateway         text NOT NULL,
    event_id        text,
    event_type      text,
    payload         jsonb NOT NULL,
    signature       text,
    signature_valid boolean NOT NULL,
    processed       boolean NOT NULL DEFAULT false,
    result          jsonb,
    received_at     timestamptz NOT NULL,
    processed_at    timestamptz,
    PRIMARY KEY (id, received_at),
    CONSTRAINT webhook_logs_gateway_known CHECK (gateway IN ('gwa', 'gwb')),
    CONSTRAINT webhook_logs_processed_has_result CHECK (NOT processed OR (result IS NOT NULL AND processed_at IS NOT NULL))
) PARTITION BY RANGE (received_at);
COMMENT ON TABLE payments.webhook_logs IS 'Every webhook call, also repeated and unauthenticated ones; a partition a month (UTC) of receipt.';
COMMENT ON COLUMN payments.webhook_logs.event_id IS 'The gateway''s id, kept whole; null when the body names none. Of an unauthenticated body it is a mere claim.';
COMMENT ON COLUMN payments.webhook_logs.payload IS 'The body; a JSON string when it is no JSON that can be stored.';
COMMENT ON COLUMN payments.webhook_logs.signature IS 'Gateway B''s signature header. Gateway A sends a secret token instead, which is never stored.';
COMMENT ON COLUMN payments.webhook_logs.processed IS 'The event has its final result; false for bad signatures and while a job tries again.';
CREATE INDEX webhook_logs_by_time ON payments.webhook_logs (received_at DESC, id DESC);

CREATE TABLE payments.webhook_logs_rest PARTITION OF payments.webhook_logs DEFAULT;
COMMENT ON TABLE payments.webhook_logs_rest IS 'Logs of months without a partition, so that a call is always taken, and logs of events not applied yet whose month has gone.';

CREATE OR REPLACE VIEW payments.webhook_log_months AS
SELECT c.relname::text AS partition,
    substring(pg_get_expr(c.relpartbound, c.oid) FROM $r$FROM \('([^']+)'\)$r$)::timestamptz AS begins_at,
    substring(pg_get_expr(c.relpartbound, c.oid) FROM $r$TO \('([^']+)'\)$r$)::timestamptz AS ends_at
FROM pg_catalog.pg_inherits i JOIN pg_catalog.pg_class c ON c.oid = i.inhrelid
WHERE i.inhparent = 'payments.webhook_logs'::regclass;
COMMENT ON VIEW payments.webhook_log_months IS 'The partitions of the log; begins_at is null for what was logged before there were any, both are for the rest.';

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION payments.add_webhook_log_months(since timestamptz, months integer) RETURNS integer
LANGUAGE plpgsql SET timezone = 'UTC' SET lock_timeout = '2s' AS $$
DECLARE
    lower timestamptz;
    upper timestamptz;
    name  text;
    added integer := 0;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('payments.webhook_logs'));
    FOR n IN 0 .. months - 1 LOOP
        lower := date_trunc('month', since) + make_interval(months => n);
        upper := lower + interval '1 month';
        name := 'webhook_logs_' || to_char(lower, 'YYYY_MM');
        -- A month that has begun in the rest stays there: moving it would hold up calls.
        CONTINUE WHEN EXISTS (SELECT 1 FROM payments.webhook_log_months m WHERE m.ends_at > lower AND (m.begins_at IS NULL OR m.begins_at < upper))
            OR EXISTS (SELECT 1 FROM payments.webhook_logs_rest r WHERE r.received_at >= lower AND r.received_at < upper);
        EXECUTE format('CREATE TABLE payments.%I (LIKE payments.webhook_logs INCLUDING ALL)', name);
        EXECUTE format('ALTER TABLE payments.webhook_logs ATTACH PARTITION payments.%I FOR VALUES FROM (%L) TO (%L)', name, lower, upper);
        added := added + 1;
    END LOOP;
    RETURN added;
END $$;
-- +goose StatementEnd
COMMENT ON FUNCTION payments.add_webhook_log_months IS 'Makes the missing partitions of so many months (UTC), and tells how many it made.';

SELECT payments.add_webhook_log_months(now(), 4);

CREATE INDEX webhook_logs_by_event ON payments.webhook_logs (event_id, gateway);
CREATE INDEX webhook_logs_unprocessed ON payments.webhook_logs (received_at DESC, id DESC) WHERE NOT processed;
COMMENT ON INDEX payments.webhook_logs_unprocessed IS 'Bad signatures, and events whose applying failed: few, so that it costs the calls nothing.';

-- Events are some kilobytes of JSON, and compressing them is most of what a call
-- costs the database. lz4 takes a third of pglz's time; a server built without it
-- keeps pglz.
-- +goose StatementBegin
DO $$
DECLARE
    part text;
BEGIN
    IF EXISTS (SELECT 1 FROM pg_catalog.pg_settings s WHERE s.name = 'default_toast_compression' AND 'lz4' = ANY (s.enumvals)) THEN
        FOR part IN SELECT 'webhook_logs' UNION ALL SELECT m.partition FROM payments.webhook_log_months m LOOP
            EXECUTE format('ALTER TABLE payments.%I ALTER COLUMN payload SET COMPRESSION lz4', part);
        END LOOP;
    END IF;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION payments.drop_webhook_log_month(before timestamptz) RETURNS text
LANGUAGE plpgsql SET timezone = 'UTC' SET lock_timeout = '2s' AS $$
DECLARE
    old text;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('payments.webhook_logs'));
    SELECT m.partition INTO old FROM payments.webhook_log_months m WHERE m.ends_at <= before ORDER BY m.ends_at LIMIT 1;
    IF old IS NULL THEN
        RETURN NULL;
    END IF;
    EXECUTE format('ALTER TABLE payments.webhook_logs DETACH PARTITION payments.%I', old);
    EXECUTE format('INSERT INTO payments.webhook_logs SELECT l.* FROM payments.processed_events e JOIN payments.%I l USING (gateway, event_id)
        WHERE e.state IN (''queued'', ''waiting'') AND l.signature_valid', old);
    EXECUTE format('DROP TABLE payments.%I', old);
    RETURN old;
END $$;
-- +goose StatementEnd
COMMENT ON FUNCTION payments.drop_webhook_log_month IS 'Drops the oldest partition that ends by the instant, logs of events not applied yet kept, and tells its name; null when there is none.';

CREATE TABLE payments.intents (
    id              platform.object_id PRIMARY KEY,
    kind            text NOT NULL,
    subject_id      platform.object_id NOT NULL,
    item            text NOT NULL DEFAULT '',
    customer_id     platform.object_id,
    gateway         text NOT NULL,
    reference       text NOT NULL,
    excludes        text,
    state           text NOT NULL DEFAULT 'open',
    calls           integer NOT NULL DEFAULT 0,
    looks           integer NOT NULL DEFAULT 0,
    failures        integer NOT NULL DEFAULT 0,
    misses          integer NOT NULL DEFAULT 0,
    missed_at       timestamptz,
    not_known_since timestamptz,
    told_at         timestamptz,
    cause           text,
    call_ends_at    timestamptz,
    looked_at       timestamptz,
    next_look_at    timestamptz,
    leased_until    timestamptz,
    created_at      timestamptz NOT NULL,
    ended_at        timestamptz,
    forwards        integer NOT NULL DEFAULT 0,
    CONSTRAINT intents_gateway_known CHECK (gateway IN ('gwa', 'gwb')),
    CONSTRAINT intents_state_known CHECK (state IN ('open', 'done', 'declined', 'refused', 'missing', 'void')),
    CONSTRAINT intents_open_has_look CHECK ((state = 'open') = (next_look_at IS NOT NULL) AND (state = 'open') = (ended_at IS NULL)),
    CONSTRAINT intents_kind_known CHECK (kind IN (
        'subscription', 'subscription_gone', 'open_invoice', 'order', 'refund', 'debit', 'debit_retry', 'plan_move', 'charge_move', 'pause', 'end',
        'renewal_charge', 'resume'))
);
COMMENT ON TABLE payments.intents IS 'One row an order to a gateway; the open ones are those whose outcome is not settled yet, and which the looks ask about.';
COMMENT ON COLUMN payments.intents.subject_id IS 'The row of the user (a subscription, an order, a refund) that the order is for.';
COMMENT ON COLUMN payments.intents.item IS 'Tells several orders of one subject apart, such as the cycles of debits.';
COMMENT ON COLUMN payments.intents.reference IS 'What the gateway was told as our own id.';
COMMENT ON COLUMN payments.intents.excludes IS 'What may be open only once at the gateway, such as refund:pay_1.';
COMMENT ON COLUMN payments.intents.calls IS 'Calls made that no answer and no proof accounts for. A proved missing sets it to 0.';
COMMENT ON COLUMN payments.intents.failures IS 'Looks in a row that ended not known; the pauses grow with them.';
COMMENT ON COLUMN payments.intents.misses IS 'Empty looks that count as proof: after the call''s own time limit, with growing pauses.';
COMMENT ON COLUMN payments.intents.not_known_since IS 'Since when the gateway has told nothing that can be used. Null after a right answer.';
COMMENT ON COLUMN payments.intents.told_at IS 'When the operators were told that it has been not known for a day.';
COMMENT ON COLUMN payments.intents.cause IS 'Why it is not known, as last seen. For operators.';
COMMENT ON COLUMN payments.intents.call_ends_at IS 'The end of the call''s own time limit: before it an empty look proves nothing.';
COMMENT ON COLUMN payments.intents.leased_until IS 'Until when the caller or a look has it; nobody else asks meanwhile.';
COMMENT ON COLUMN payments.intents.forwards IS 'How often its look was brought forward since its last right answer: each time it waits twice as long, so that an object that is always answered oddly keeps to its pauses.';
CREATE UNIQUE INDEX intents_one_open ON payments.intents (subject_id, kind, item) WHERE state = 'open';
CREATE UNIQUE INDEX intents_one_at_a_time ON payments.intents (gateway, excludes) WHERE state = 'open' AND excludes IS NOT NULL;
CREATE INDEX intents_due ON payments.intents (gateway, next_look_at) WHERE state = 'open';
CREATE INDEX intents_reference ON payments.intents (gateway, reference);
CREATE INDEX intents_subject ON payments.intents (subject_id);

CREATE TABLE payments.intent_steps (
    id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    intent_id platform.object_id NOT NULL REFERENCES payments.intents (id) ON DELETE CASCADE,
    at        timestamptz NOT NULL,
    by        text NOT NULL,
    outcome   text NOT NULL,
    state     text NOT NULL,
    cause     text
);
COMMENT ON TABLE payments.intent_steps IS 'The history of the intents, append-only: calls, looks and ends, each with what it showed.';
CREATE INDEX intent_steps_intent ON payments.intent_steps (intent_id);

CREATE TABLE payments.gateway_state (
    gateway       text PRIMARY KEY CONSTRAINT gateway_state_known CHECK (gateway IN ('gwa', 'gwb')),
    failing_since timestamptz,
    failed_at     timestamptz,
    forwarded_at  timestamptz,
    suspect_since timestamptz,
    looks_left    integer NOT NULL DEFAULT 0,
    window_ends   timestamptz,
    counted_from  timestamptz,
    looked        integer NOT NULL DEFAULT 0,
    missed        integer NOT NULL DEFAULT 0
);
COMMENT ON TABLE payments.gateway_state IS 'What the looks know of each gateway, shared by all processes.';
COMMENT ON COLUMN payments.gateway_state.failing_since IS 'The first call or look that ended not known since the last right answer.';
COMMENT ON COLUMN payments.gateway_state.forwarded_at IS 'When a right answer last brought all looks forward.';
COMMENT ON COLUMN payments.gateway_state.suspect_since IS 'Too many known objects were missing: while it is set, missing ends nothing.';
COMMENT ON COLUMN payments.gateway_state.looks_left IS 'Looks that the share of the quota still allows until window_ends.';
COMMENT ON COLUMN payments.gateway_state.counted_from IS 'Begin of the hour in which looked and missed count subscriptions that were read and not found.';

INSERT INTO payments.gateway_state (gateway) VALUES ('gwa'), ('gwb');

CREATE TABLE payments.unapplied_payments (
    id                  platform.object_id PRIMARY KEY DEFAULT platform.new_object_id(),
    kind                text NOT NULL,
    gateway             text NOT NULL,
    subject             text NOT NULL,
    gateway_payment_id  text,
    amount_cents        bigint,
    customer_id         platform.object_id,
    subscription_id     platform.object_id,
    order_id            platform.object_id,
    paid_at             timestamptz,
    state               text NOT NULL DEFAULT 'open',
    note                text,
    automatic           boolean NOT NULL DEFAULT false,
    created_at          timestamptz NOT NULL,
    updated_at          timestamptz NOT NULL,
    tries               integer NOT NULL DEFAULT 0,
    next_try_at         timestamptz,
    bought              boolean NOT NULL DEFAULT false,
    reference           platform.object_id,
    taken_back          boolean NOT NULL DEFAULT false,
    gateway_customer_id text,
    told_at             timestamptz,
    CONSTRAINT unapplied_payments_one_row_per_subject UNIQUE (gateway, subject),
    CONSTRAINT unapplied_payments_gateway_known CHECK (gateway IN ('gwa', 'gwb')),
    CONSTRAINT unapplied_payments_kind_known CHECK (kind IN ('late', 'duplicate', 'foreign', 'unrefundable', 'unknown')),
    CONSTRAINT unapplied_payments_state_known CHECK (state IN ('open', 'refunding', 'refunded', 'extended', 'kept')),
    CONSTRAINT unapplied_payments_subject_is_payment CHECK (gateway_payment_id IS NULL OR gateway_payment_id = subject),
    CONSTRAINT unapplied_payments_unknown_alone_without_payment CHECK (gateway_payment_id IS NOT NULL OR kind = 'unknown'),
    CONSTRAINT unapplied_payments_unknown_alone_without_amount CHECK (amount_cents IS NOT NULL OR kind = 'unknown'),
    CONSTRAINT unapplied_payments_amount_not_negative CHECK (amount_cents >= 0),
    CONSTRAINT unapplied_payments_amount_bounded CHECK (amount_cents <= 100000000000)
);
COMMENT ON TABLE payments.unapplied_payments IS 'Money that gave nobody anything: what people decide on, and what was given back by itself.';
COMMENT ON COLUMN payments.unapplied_payments.kind IS 'late: for a row that has ended; duplicate: a second payment, or that of a recurrence beside the row''s own; foreign: booked for a row that another customer or recurrence owns; unrefundable: a refund of it failed or can never be made; unknown: an answer not known for a day, or money that nobody can place.';
COMMENT ON COLUMN payments.unapplied_payments.subject IS 'What the row is about: the payment as payments.payments.gateway_payment_id names it, else, of kind unknown, whatever tells the case apart, such as the gateway''s recurrence or our own id.';
COMMENT ON COLUMN payments.unapplied_payments.customer_id IS 'Kept without a foreign key, as in the ledger: it outlives the customer.';
COMMENT ON COLUMN payments.unapplied_payments.state IS 'open: nobody has decided; refunding: a refund is asked for; refunded: all of it is given back; extended: made a living subscription''s; kept: an admin says so.';
COMMENT ON COLUMN payments.unapplied_payments.automatic IS 'The platform may refund it by itself, after reading it live and within the limits.';
COMMENT ON COLUMN payments.unapplied_payments.tries IS 'How often the gateway was asked about it in vain before an automatic refund.';
COMMENT ON COLUMN payments.unapplied_payments.next_try_at IS 'Not before then is it looked at again for an automatic refund; null: at once.';
COMMENT ON COLUMN payments.unapplied_payments.bought IS 'It paid for a period all the same, and is listed for a part that was taken back, for a refund that failed, or for what was not used of it.';
COMMENT ON COLUMN payments.unapplied_payments.reference IS 'Our id that the gateway was told with the payment, where it is another than the subscription''s or order''s: a renewal charge''s.';
COMMENT ON COLUMN payments.unapplied_payments.taken_back IS 'The amount is what the payer''s bank took back of the payment: it is gone, and there is nothing of it to refund or to extend by.';
COMMENT ON COLUMN payments.unapplied_payments.gateway_customer_id IS 'Whom the gateway took the money of, where nobody here was known under that id; customer_id is learned from it.';
COMMENT ON COLUMN payments.unapplied_payments.told_at IS 'When the operators were last told that money of nobody known here waits.';
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
    CONSTRAINT unapplied_decisions_admin_named CHECK (source = 'admin' OR admin_id IS NULL),
    CONSTRAINT unapplied_decisions_amount_bounded CHECK (amount_cents <= 100000000000)
);
COMMENT ON TABLE payments.unapplied_decisions IS 'Every change of an unapplied payment''s state, append-only. What the platform refunded by itself, and so its hourly and daily limits, is counted from here.';
COMMENT ON COLUMN payments.unapplied_decisions.from_state IS 'Null for the row that began it.';
COMMENT ON COLUMN payments.unapplied_decisions.source IS 'platform: by itself; admin: a person; gateway: it followed from what the ledger of refunds was told.';
COMMENT ON COLUMN payments.unapplied_decisions.amount_cents IS 'The payment''s, as far as it is known.';
CREATE INDEX unapplied_decisions_by_payment ON payments.unapplied_decisions (unapplied_id, id);
CREATE INDEX unapplied_decisions_automatic ON payments.unapplied_decisions (at) WHERE source = 'platform' AND to_state = 'refunding';

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION payments.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'payments.% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION payments.refuse_change() IS 'Keeps a history append-only, also against people at psql.';
CREATE TRIGGER unapplied_decisions_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON payments.unapplied_decisions
    FOR EACH STATEMENT EXECUTE FUNCTION payments.refuse_change();

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION payments.database_mark() RETURNS text LANGUAGE sql STABLE AS $$
    SELECT (pg_control_system()).system_identifier || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8) || '/' || d.oid
    FROM pg_database d WHERE d.datname = current_database()
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION payments.database_mark() IS 'What tells this database from a copy or an earlier state of it: the cluster, its timeline (a recovery from a backup and a failover begin a new one), and the database in it.';

CREATE TABLE payments.database_marks (
    only_one boolean PRIMARY KEY DEFAULT true,
    mark     text NOT NULL,
    noted_at timestamptz NOT NULL,
    CONSTRAINT database_marks_only_one CHECK (only_one)
);
COMMENT ON TABLE payments.database_marks IS 'Which database the money is refunded from by itself, noted by the migration that made or found it: where payments.database_mark() says otherwise, or nothing is noted, this is a restored one, and nothing is refunded or ended by itself until somebody has reconciled.';

INSERT INTO payments.database_marks (mark, noted_at) VALUES (payments.database_mark(), now());

-- Anybody can send what will be refused, so that it may neither fill the log nor stay
-- in it: refused calls stand in a table of their own, few and for some days, and the
-- others are counted.
CREATE TABLE payments.refused_webhooks (
    id              platform.object_id PRIMARY KEY,
    gateway         text NOT NULL,
    event_id        text,
    event_type      text,
    payload         jsonb NOT NULL,
    signature       text,
    signature_valid boolean NOT NULL DEFAULT false,
    processed       boolean NOT NULL DEFAULT false,
    result          jsonb,
    received_at     timestamptz NOT NULL,
    processed_at    timestamptz,
    reason          text NOT NULL,
    address         text NOT NULL,
    network         text NOT NULL,
    CONSTRAINT refused_webhooks_gateway_known CHECK (gateway IN ('gwa', 'gwb')),
    CONSTRAINT refused_webhooks_reason_known CHECK (reason IN ('signature', 'clock_skew')),
    CONSTRAINT refused_webhooks_never_valid CHECK (NOT signature_valid AND NOT processed AND processed_at IS NULL)
);
COMMENT ON TABLE payments.refused_webhooks IS 'The first refused webhook calls of an hour and address, and of a day; the columns up to processed_at are those of webhook_logs, beside which they are listed. Kept 7 days, then counted.';
COMMENT ON COLUMN payments.refused_webhooks.event_id IS 'What the body claims to be.';
COMMENT ON COLUMN payments.refused_webhooks.payload IS 'At most 4 kB of the body; a JSON string when it is longer, or no JSON.';
COMMENT ON COLUMN payments.refused_webhooks.reason IS 'signature: missing, unreadable, wrong, or of another day; clock_skew: right, but made 5 minutes to 24 hours before or after our time.';
COMMENT ON COLUMN payments.refused_webhooks.address IS 'An IPv4 address, or the /64 of an IPv6 address.';
COMMENT ON COLUMN payments.refused_webhooks.network IS 'As in refused_webhook_counts.';
CREATE INDEX refused_webhooks_by_time ON payments.refused_webhooks (received_at DESC, id DESC);
CREATE INDEX refused_webhooks_by_event ON payments.refused_webhooks (event_id, gateway);

CREATE TABLE payments.refused_webhook_counts (
    hour    timestamptz NOT NULL,
    gateway text NOT NULL,
    network text NOT NULL,
    reason  text NOT NULL,
    calls   bigint NOT NULL,
    last_at timestamptz NOT NULL,
    PRIMARY KEY (hour, gateway, network, reason),
    CONSTRAINT refused_webhook_counts_gateway_known CHECK (gateway IN ('gwa', 'gwb')),
    CONSTRAINT refused_webhook_counts_reason_known CHECK (reason IN ('signature', 'clock_skew'))
);
COMMENT ON TABLE payments.refused_webhook_counts IS 'Refused webhook calls that are not, or no longer, stored.';
COMMENT ON COLUMN payments.refused_webhook_counts.network IS 'The /24 of an IPv4 address, the /48 of an IPv6 address; other: beyond the networks that an hour names.';

CREATE OR REPLACE VIEW payments.bought_nothing AS
SELECT p.gateway, p.gateway_payment_id, p.payment_intent_id, p.purpose, p.local_id
FROM payments.unapplied_payments u
JOIN payments.payments p ON p.gateway = u.gateway AND p.gateway_payment_id = u.subject
WHERE u.gateway_payment_id IS NOT NULL AND u.state <> 'extended' AND u.kind <> 'unknown' AND NOT u.bought;
COMMENT ON VIEW payments.bought_nothing IS 'Payments in the ledger that gave nobody anything: what becomes of them touches no subscription.';

-- +goose Down
DROP SCHEMA payments CASCADE;
