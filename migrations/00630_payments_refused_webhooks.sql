-- +goose Up
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

-- +goose Down
DROP TABLE payments.refused_webhook_counts;
DROP TABLE payments.refused_webhooks;
