-- +goose Up
CREATE TABLE subscriptions.trial_uses (
    tax_id_mac      bytea PRIMARY KEY,
    subscription_id platform.object_id,
    claimed_at      timestamptz NOT NULL,
    began_at        timestamptz,
    CONSTRAINT trial_uses_subscription_exists FOREIGN KEY (subscription_id) REFERENCES subscriptions.subscriptions (id)
        ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED
);
COMMENT ON TABLE subscriptions.trial_uses IS
    'Who has had a trial: one for each tax id, kept 24 months from its beginning, also after the account is deleted. A row whose trial has not begun counts while its subscription is pending.';
COMMENT ON COLUMN subscriptions.trial_uses.tax_id_mac IS 'HMAC-SHA-256 of the tax id with a server key (TRIAL_KEY): without it no tax id is found in here.';
COMMENT ON COLUMN subscriptions.trial_uses.subscription_id IS 'Null for trials of earlier versions and of deleted accounts.';
CREATE INDEX trial_uses_by_subscription ON subscriptions.trial_uses (subscription_id) WHERE subscription_id IS NOT NULL;
CREATE INDEX trial_uses_by_age ON subscriptions.trial_uses (coalesce(began_at, claimed_at));

-- +goose Down
DROP TABLE subscriptions.trial_uses;
