-- +goose Up
ALTER TABLE subscriptions.subscriptions
    ADD COLUMN renews_id platform.object_id,
    ADD COLUMN starts_at timestamptz,
    ADD CONSTRAINT subscriptions_renews_known FOREIGN KEY (renews_id) REFERENCES subscriptions.subscriptions (id),
    ADD CONSTRAINT subscriptions_renews_another CHECK (renews_id <> id),
    ADD CONSTRAINT subscriptions_start_is_of_a_renewal CHECK (starts_at IS NULL OR renews_id IS NOT NULL);
COMMENT ON COLUMN subscriptions.subscriptions.renews_id IS 'The subscription beside which this one waits, as pending, until the gateway took its card; then one transaction replaces that by this.';
COMMENT ON COLUMN subscriptions.subscriptions.starts_at IS 'End of the paid time of the renewed one, at which the recurrence charges first. Null: at once.';

DROP INDEX subscriptions.subscriptions_one_live_per_customer;
CREATE UNIQUE INDEX subscriptions_one_live_per_customer ON subscriptions.subscriptions (customer_id)
WHERE status IN ('active', 'pending', 'suspended') AND NOT (status = 'pending' AND renews_id IS NOT NULL);
COMMENT ON INDEX subscriptions.subscriptions_one_live_per_customer IS 'A renewal that waits stands beside it: subscriptions_one_renewal_per_customer.';
CREATE UNIQUE INDEX subscriptions_one_renewal_per_customer ON subscriptions.subscriptions (customer_id) WHERE status = 'pending' AND renews_id IS NOT NULL;
CREATE INDEX subscriptions_by_renewed ON subscriptions.subscriptions (renews_id) WHERE renews_id IS NOT NULL;

-- +goose Down
DROP INDEX subscriptions.subscriptions_by_renewed;
DROP INDEX subscriptions.subscriptions_one_renewal_per_customer;
DROP INDEX subscriptions.subscriptions_one_live_per_customer;
CREATE UNIQUE INDEX subscriptions_one_live_per_customer ON subscriptions.subscriptions (customer_id)
WHERE status IN ('active', 'pending', 'suspended');
ALTER TABLE subscriptions.subscriptions DROP COLUMN renews_id, DROP COLUMN starts_at;
