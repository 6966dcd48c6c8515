-- Columns that the release before still names, and this one no more: sqlc reads them away, so that no statement of this
-- release does. The next one drops them in a migration, and takes their line out here.
ALTER TABLE subscriptions.charge_moves DROP COLUMN tries, DROP COLUMN next_try_at;
ALTER TABLE subscriptions.pauses DROP COLUMN tries, DROP COLUMN next_try_at, DROP COLUMN leased_until;
ALTER TABLE subscriptions.renewal_charges DROP COLUMN look_at, DROP COLUMN misses;
ALTER TABLE subscriptions.subscriptions DROP COLUMN recovery_at, DROP COLUMN recovery_tries;
ALTER TABLE tickets.orders DROP COLUMN recovery_at, DROP COLUMN recovery_tries;
ALTER TABLE subscriptions.plan_moves DROP COLUMN tries, DROP COLUMN next_try_at;
