-- +goose Up
CREATE TABLE payments.webhook_logs (
    id              platform.object_id PRIMARY KEY DEFAULT platform.new_object_id(),
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
    CONSTRAINT webhook_logs_gateway_known CHECK (gateway IN ('gwa', 'gwb')),
    CONSTRAINT webhook_logs_processed_has_result CHECK (NOT processed OR (result IS NOT NULL AND processed_at IS NOT NULL))
);
COMMENT ON TABLE payments.webhook_logs IS 'Every webhook call, also repeated and unauthenticated ones.';
COMMENT ON COLUMN payments.webhook_logs.event_id IS 'The gateway''s id, kept whole; null when the body names none. Of an unauthenticated body it is a mere claim.';
COMMENT ON COLUMN payments.webhook_logs.payload IS 'The body; a JSON string when it is no JSON that can be stored.';
COMMENT ON COLUMN payments.webhook_logs.signature IS 'Gateway B''s signature header. Gateway A sends a secret token instead, which is never stored.';
COMMENT ON COLUMN payments.webhook_logs.processed IS 'The event has its final result; false for bad signatures and while a job tries again.';
CREATE INDEX webhook_logs_by_event ON payments.webhook_logs (gateway, event_id);
CREATE INDEX webhook_logs_by_time ON payments.webhook_logs (received_at DESC);

CREATE TABLE payments.processed_events (
    gateway    text NOT NULL,
    event_id   text NOT NULL,
    log_id     platform.object_id NOT NULL REFERENCES payments.webhook_logs (id) ON DELETE CASCADE,
    state      text NOT NULL,
    subjects   text[] NOT NULL DEFAULT '{}',
    result     jsonb NOT NULL,
    event_at   timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    CONSTRAINT processed_events_one_row_per_gateway_event PRIMARY KEY (gateway, event_id),
    CONSTRAINT processed_events_state_known CHECK (state IN ('applying', 'done', 'queued', 'waiting'))
);
COMMENT ON TABLE payments.processed_events IS 'One row a gateway event: whoever inserts it applies the event, everybody else takes its result.';
COMMENT ON COLUMN payments.processed_events.log_id IS 'The first authenticated log, whose payload is applied again by retries and replays.';
COMMENT ON COLUMN payments.processed_events.state IS 'applying: only inside the transaction that inserts; done: final; queued: applying failed and a job tries again; waiting: no local row knows its subject yet.';
COMMENT ON COLUMN payments.processed_events.subjects IS 'Ids by which a waiting event is found once a local row learns one of them.';
COMMENT ON COLUMN payments.processed_events.event_at IS 'When it happened, by the gateway''s clock.';
CREATE INDEX processed_events_waiting ON payments.processed_events USING gin (subjects) WHERE state = 'waiting';

-- +goose Down
DROP TABLE payments.processed_events;
DROP TABLE payments.webhook_logs;
