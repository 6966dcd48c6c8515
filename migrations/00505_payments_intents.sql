-- +goose Up
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
    CONSTRAINT intents_kind_known CHECK (kind IN ('subscription', 'subscription_gone', 'open_invoice', 'order', 'refund', 'debit', 'plan_move', 'pause', 'end')),
    CONSTRAINT intents_gateway_known CHECK (gateway IN ('gwa', 'gwb')),
    CONSTRAINT intents_state_known CHECK (state IN ('open', 'done', 'declined', 'refused', 'missing', 'void')),
    CONSTRAINT intents_open_has_look CHECK ((state = 'open') = (next_look_at IS NOT NULL) AND (state = 'open') = (ended_at IS NULL))
);
CREATE UNIQUE INDEX intents_one_open ON payments.intents (subject_id, kind, item) WHERE state = 'open';
CREATE UNIQUE INDEX intents_one_at_a_time ON payments.intents (gateway, excludes) WHERE state = 'open' AND excludes IS NOT NULL;
CREATE INDEX intents_due ON payments.intents (gateway, next_look_at) WHERE state = 'open';
CREATE INDEX intents_reference ON payments.intents (gateway, reference);
CREATE INDEX intents_subject ON payments.intents (subject_id);
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

CREATE TABLE payments.intent_steps (
    id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    intent_id platform.object_id NOT NULL REFERENCES payments.intents (id) ON DELETE CASCADE,
    at        timestamptz NOT NULL,
    by        text NOT NULL,
    outcome   text NOT NULL,
    state     text NOT NULL,
    cause     text
);
CREATE INDEX intent_steps_intent ON payments.intent_steps (intent_id);
COMMENT ON TABLE payments.intent_steps IS 'The history of the intents, append-only: calls, looks and ends, each with what it showed.';

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
INSERT INTO payments.gateway_state (gateway) VALUES ('gwa'), ('gwb');
COMMENT ON TABLE payments.gateway_state IS 'What the looks know of each gateway, shared by all processes.';
COMMENT ON COLUMN payments.gateway_state.failing_since IS 'The first call or look that ended not known since the last right answer.';
COMMENT ON COLUMN payments.gateway_state.forwarded_at IS 'When a right answer last brought all looks forward.';
COMMENT ON COLUMN payments.gateway_state.suspect_since IS 'Too many known objects were missing: while it is set, missing ends nothing.';
COMMENT ON COLUMN payments.gateway_state.looks_left IS 'Looks that the share of the quota still allows until window_ends.';
COMMENT ON COLUMN payments.gateway_state.counted_from IS 'Begin of the hour in which looked and missed count subscriptions that were read and not found.';

-- +goose Down
DROP TABLE payments.gateway_state;
DROP TABLE payments.intent_steps;
DROP TABLE payments.intents;
