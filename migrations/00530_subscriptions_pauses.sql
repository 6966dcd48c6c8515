-- +goose Up
CREATE TABLE subscriptions.pauses (
    id              platform.object_id PRIMARY KEY,
    subscription_id platform.object_id NOT NULL CONSTRAINT pauses_subscription_known REFERENCES subscriptions.subscriptions (id),
    state           text COLLATE "C" NOT NULL DEFAULT 'pausing',
    since           timestamptz NOT NULL,
    until           timestamptz,
    next_due        timestamptz,
    tries           integer NOT NULL DEFAULT 0,
    next_try_at     timestamptz,
    leased_until    timestamptz,
    paused_at       timestamptz,
    ended_at        timestamptz,
    register_date   timestamptz NOT NULL,
    CONSTRAINT pauses_state_known CHECK (state IN ('pausing', 'paused', 'resuming', 'resumed', 'void')),
    CONSTRAINT pauses_asked_has_next_try CHECK ((state IN ('pausing', 'resuming')) = (next_try_at IS NOT NULL)),
    CONSTRAINT pauses_over_has_end CHECK ((state IN ('resumed', 'void')) = (ended_at IS NOT NULL)),
    CONSTRAINT pauses_tries_not_negative CHECK (tries >= 0)
);
COMMENT ON TABLE subscriptions.pauses IS 'Orders to collect nothing for a disputed subscription, written before its gateway is asked, and to collect again.';
COMMENT ON COLUMN subscriptions.pauses.state IS 'pausing: the gateway is being asked to collect nothing; paused: it has confirmed; resuming: it is being asked to collect again; resumed; void: the subscription ended first.';
COMMENT ON COLUMN subscriptions.pauses.since IS 'When the dispute was opened, by the gateway''s clock: money that settles from then on is given back.';
COMMENT ON COLUMN subscriptions.pauses.until IS 'When the dispute was won, by the gateway''s clock, or lifted by an admin; money that settles from then on counts.';
COMMENT ON COLUMN subscriptions.pauses.next_due IS 'The first day for which a charge had been made and was removed.';
COMMENT ON COLUMN subscriptions.pauses.leased_until IS 'Until then one worker asks the gateway, and no other does.';
CREATE UNIQUE INDEX pauses_one_open ON subscriptions.pauses (subscription_id) WHERE state IN ('pausing', 'paused', 'resuming');
CREATE INDEX pauses_waiting ON subscriptions.pauses (next_try_at) WHERE state IN ('pausing', 'resuming');
CREATE INDEX pauses_of_subscription ON subscriptions.pauses (subscription_id, id);
CREATE INDEX subscriptions_disputed ON subscriptions.subscriptions (id) WHERE has_chargeback AND status = 'suspended';

-- +goose Down
DROP INDEX subscriptions.subscriptions_disputed;
DROP TABLE subscriptions.pauses;
