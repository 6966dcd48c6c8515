-- +goose Up
CREATE TABLE subscriptions.transitions (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    subscription_id platform.object_id NOT NULL CONSTRAINT transitions_subscription_known REFERENCES subscriptions.subscriptions (id),
    customer_id     platform.object_id NOT NULL,
    at              timestamptz NOT NULL,
    from_status     text COLLATE "C",
    to_status       text COLLATE "C" NOT NULL,
    reason          text COLLATE "C" NOT NULL,
    source          text COLLATE "C" NOT NULL,
    actor_id        platform.object_id,
    event_id        text COLLATE "C",
    CONSTRAINT transitions_from_known CHECK (from_status IN ('active', 'pending', 'suspended', 'cancelled', 'expired')),
    CONSTRAINT transitions_to_known CHECK (to_status IN ('active', 'pending', 'suspended', 'cancelled', 'expired')),
    CONSTRAINT transitions_moves CHECK (from_status IS DISTINCT FROM to_status)
);
COMMENT ON TABLE subscriptions.transitions IS 'Every change of a subscription''s status, append-only; churn is counted from here.';
COMMENT ON COLUMN subscriptions.transitions.from_status IS 'Null for the row that began the subscription.';
COMMENT ON COLUMN subscriptions.transitions.source IS 'What moved it: subscribe, webhook, recovery, live_read, job, customer or admin.';
COMMENT ON COLUMN subscriptions.transitions.actor_id IS 'The user who asked for it; null for gateways and jobs.';
COMMENT ON COLUMN subscriptions.transitions.event_id IS 'The gateway''s event, when one moved it.';

CREATE INDEX transitions_by_subscription ON subscriptions.transitions (subscription_id, id);
CREATE INDEX transitions_by_instant ON subscriptions.transitions (at);

-- +goose StatementBegin
CREATE FUNCTION subscriptions.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'subscriptions.transitions is append-only' USING ERRCODE = 'restrict_violation';
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION subscriptions.refuse_change() IS 'Keeps the history append-only, also against people at psql.';

CREATE TRIGGER transitions_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON subscriptions.transitions
    FOR EACH STATEMENT EXECUTE FUNCTION subscriptions.refuse_change();

-- +goose Down
DROP TABLE subscriptions.transitions;
DROP FUNCTION subscriptions.refuse_change();
