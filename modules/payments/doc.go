// Package payments is where money meets the platform: what it needs of a
// payment gateway in neutral words, the two gateways behind them, the webhooks
// by which they report, and the ledger of what they reported.
//
// Owns: the schema payments (payments, failed_attempts, webhook_logs,
// processed_events), the routes POST /webhooks/gwa, POST /webhooks/gwb and
// GET /gwb/config.
//
// Does not own: subscriptions, orders and what an event means for them. Upper
// modules register an Applier; this module authenticates, logs, removes
// repetitions, and calls the appliers inside the webhook's transaction.
//
// Words: an event is what a gateway says happened; a log is one delivery of it;
// applying is the change that it makes here. An event is unclaimed, and waits,
// when no module knows its subject yet. A payment is settled once the money
// counts (approved by card, received by PIX); the ledger holds settled payments
// only. An attempt is one try to take a payment.
//
// The adapters gwa and gwb are built by the composition root alone; other
// modules see the interface Gateway.
//
// Timestamps: received_at and processed_at of a log are ours, event_at and
// settled_at the gateway's.
package payments
