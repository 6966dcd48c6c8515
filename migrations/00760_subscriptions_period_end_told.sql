-- +goose Up
ALTER TABLE subscriptions.subscriptions
    ADD COLUMN period_end_told_at timestamptz,
    ADD COLUMN period_end_tells integer NOT NULL DEFAULT 0,
    ADD COLUMN period_end_look_at timestamptz;
COMMENT ON COLUMN subscriptions.subscriptions.period_end_told_at IS 'When a call of ours last told gateway B whether the subscription ends with its period, by our clock. An event of before says nothing about cancel_at_period_end by itself.';
COMMENT ON COLUMN subscriptions.subscriptions.period_end_tells IS 'How many such calls were answered: two that overlap see it, and have the gateway read.';
COMMENT ON COLUMN subscriptions.subscriptions.period_end_look_at IS 'From when on gateway B is to be read, to hold cancel_at_period_end against what stands there; null when that was done.';
CREATE INDEX subscriptions_period_end_look ON subscriptions.subscriptions (period_end_look_at) WHERE period_end_look_at IS NOT NULL;

-- What is to end at gateway B is read a day before.
UPDATE subscriptions.subscriptions SET period_end_look_at = expires_at - interval '1 day'
WHERE gateway = 'gwb' AND gwb_subscription_id IS NOT NULL AND status IN ('active', 'suspended') AND cancel_at_period_end AND expires_at > now();

-- +goose Down
DROP INDEX subscriptions.subscriptions_period_end_look;
ALTER TABLE subscriptions.subscriptions DROP COLUMN period_end_told_at, DROP COLUMN period_end_tells, DROP COLUMN period_end_look_at;
