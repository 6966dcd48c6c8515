-- +goose Up
CREATE TABLE subscriptions.plan_moves (
    id                   platform.object_id PRIMARY KEY,
    subscription_id      platform.object_id NOT NULL CONSTRAINT plan_moves_subscription_known REFERENCES subscriptions.subscriptions (id),
    plan_id              text COLLATE "C" NOT NULL CONSTRAINT plan_moves_plan_known REFERENCES subscriptions.plans (plan_id),
    state                text COLLATE "C" NOT NULL DEFAULT 'open',
    tries                integer NOT NULL DEFAULT 0,
    next_try_at          timestamptz,
    ended_at             timestamptz,
    created_by_id        platform.object_id,
    register_date        timestamptz NOT NULL,
    CONSTRAINT plan_moves_state_known CHECK (state IN ('open', 'done', 'refused', 'void')),
    CONSTRAINT plan_moves_open_has_next_try CHECK ((state = 'open') = (next_try_at IS NOT NULL)),
    CONSTRAINT plan_moves_ended CHECK ((state = 'open') = (ended_at IS NULL)),
    CONSTRAINT plan_moves_tries_not_negative CHECK (tries >= 0)
);
COMMENT ON TABLE subscriptions.plan_moves IS 'Orders to move a running recurrence to another plan, written before its gateway is asked for the new price.';
COMMENT ON COLUMN subscriptions.plan_moves.plan_id IS 'The plan to move to; the subscription takes it on when the gateway has confirmed the price.';
COMMENT ON COLUMN subscriptions.plan_moves.state IS 'open: the gateway is being asked; done; refused: the gateway certainly kept the old price; void: the subscription ended first.';
COMMENT ON COLUMN subscriptions.plan_moves.created_by_id IS 'The admin who ordered it.';

CREATE UNIQUE INDEX plan_moves_one_open ON subscriptions.plan_moves (subscription_id) WHERE state = 'open';
CREATE INDEX plan_moves_waiting ON subscriptions.plan_moves (next_try_at) WHERE state = 'open';

-- +goose Down
DROP TABLE subscriptions.plan_moves;
