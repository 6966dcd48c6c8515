CREATE OR REPLACE VIEW finance.transitions AS
SELECT t.id AS transition_id, t.subscription_id, t.customer_id, t.at, (t.at AT TIME ZONE (SELECT report_tz FROM finance.settings))::date AS day,
    t.from_status, t.to_status, t.reason, t.source
FROM subscriptions.transitions t;
COMMENT ON VIEW finance.transitions IS 'Every change of a subscriptions status, append-only. Source: subscriptions.transitions.';
COMMENT ON COLUMN finance.transitions.transition_id IS 'Key, in order of time.';
COMMENT ON COLUMN finance.transitions.subscription_id IS 'The subscription (finance.subscriptions); null when it is not about one.';
COMMENT ON COLUMN finance.transitions.customer_id IS 'The customer (finance.customers); stays when they are deleted.';
COMMENT ON COLUMN finance.transitions.at IS 'Instant of the change, UTC. Access may have stopped earlier: see finance.movements.';
COMMENT ON COLUMN finance.transitions.day IS 'Day of at in the report time zone.';
COMMENT ON COLUMN finance.transitions.from_status IS 'Null for the row that began the subscription.';
COMMENT ON COLUMN finance.transitions.to_status IS 'The status from then on.';
COMMENT ON COLUMN finance.transitions.reason IS 'Why; the words of subscriptions.';
COMMENT ON COLUMN finance.transitions.source IS 'What moved it: subscribe, webhook, recovery, reconciliation, live_read, job, customer or admin.';
