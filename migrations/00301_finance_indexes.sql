-- +goose Up
CREATE INDEX payments_by_time ON payments.payments (settled_at);
COMMENT ON INDEX payments.payments_by_time IS 'For reports and exports of a period.';
CREATE INDEX failed_attempts_by_time ON payments.failed_attempts (failed_at);
COMMENT ON INDEX payments.failed_attempts_by_time IS 'For reports and exports of a period.';
CREATE INDEX subscriptions_active_until ON subscriptions.subscriptions (expires_at) WHERE status = 'active' AND expires_at IS NOT NULL;
COMMENT ON INDEX subscriptions.subscriptions_active_until IS 'Finds the few whose access has ended and whose job has not come yet.';
CREATE INDEX subscriptions_overdue ON subscriptions.subscriptions (id)
    WHERE (payment_failures > 0 OR status = 'suspended') AND status NOT IN ('cancelled', 'expired');
COMMENT ON INDEX subscriptions.subscriptions_overdue IS 'For the list of the overdue.';
CREATE INDEX subscriptions_by_creation ON subscriptions.subscriptions (register_date DESC);
COMMENT ON INDEX subscriptions.subscriptions_by_creation IS 'For reports and exports of a period.';
CREATE INDEX transitions_of_renewals ON subscriptions.transitions (subscription_id) WHERE reason = 'renewed';
COMMENT ON INDEX subscriptions.transitions_of_renewals IS 'Tells subscriptions that replaced another.';

-- +goose Down
DROP INDEX subscriptions.transitions_of_renewals;
DROP INDEX subscriptions.subscriptions_by_creation;
DROP INDEX subscriptions.subscriptions_overdue;
DROP INDEX subscriptions.subscriptions_active_until;
DROP INDEX payments.failed_attempts_by_time;
DROP INDEX payments.payments_by_time;
