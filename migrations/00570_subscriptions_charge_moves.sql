-- +goose Up
CREATE TABLE subscriptions.charge_moves (
    id              platform.object_id PRIMARY KEY,
    subscription_id platform.object_id NOT NULL CONSTRAINT charge_moves_subscription_known REFERENCES subscriptions.subscriptions (id),
    from_at         timestamptz NOT NULL,
    to_at           timestamptz NOT NULL,
    state           text COLLATE "C" NOT NULL DEFAULT 'open',
    tries           integer NOT NULL DEFAULT 0,
    next_try_at     timestamptz,
    ended_at        timestamptz,
    created_by_id   platform.object_id,
    register_date   timestamptz NOT NULL,
    CONSTRAINT charge_moves_state_known CHECK (state IN ('open', 'done', 'refused', 'void')),
    CONSTRAINT charge_moves_open_has_next_try CHECK ((state = 'open') = (next_try_at IS NOT NULL)),
    CONSTRAINT charge_moves_over_has_end CHECK ((state = 'open') = (ended_at IS NULL)),
    CONSTRAINT charge_moves_forward CHECK (to_at > from_at),
    CONSTRAINT charge_moves_tries_not_negative CHECK (tries >= 0)
);
COMMENT ON TABLE subscriptions.charge_moves IS 'Orders to charge a card subscription that was extended first at the end of its extension, written with the extension and before its gateway is asked.';
COMMENT ON COLUMN subscriptions.charge_moves.from_at IS 'When the next charge would have been due: what settles for the time from here to to_at is given back.';
COMMENT ON COLUMN subscriptions.charge_moves.to_at IS 'When the next charge is to be due.';
COMMENT ON COLUMN subscriptions.charge_moves.state IS 'open: the gateway is being asked; done: it has confirmed; refused: it certainly did not; void: the subscription ended first, or the day has come.';
CREATE UNIQUE INDEX charge_moves_one_open ON subscriptions.charge_moves (subscription_id) WHERE state = 'open';
CREATE INDEX charge_moves_waiting ON subscriptions.charge_moves (next_try_at) WHERE state = 'open';
CREATE INDEX charge_moves_of_subscription ON subscriptions.charge_moves (subscription_id, to_at);

-- +goose Down
DROP TABLE subscriptions.charge_moves;
