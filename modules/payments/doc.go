// Package payments is where money meets the platform: the two payment gateways, the
// webhooks by which they report, and the ledger of what they reported.
//
// Owns: the schema payments (payments, failed_attempts, refunds, refund_transitions, refund_reports,
// disputes, dispute_transitions, unapplied_payments, unapplied_decisions, webhook_logs, refused_webhooks,
// refused_webhook_counts, processed_events,
// intents, intent_steps, gateway_state, database_marks), the routes POST /webhooks/gwa,
// POST /webhooks/gwb, GET /webhook-logs and its stats and replay,
// GET /gwb/config, /admin/finance/{payments,refunds,disputes} and /admin/finance/unapplied-payments: the lists
// of money that was given back and of what gave nobody anything are data of this module, and
// finance changes nothing.
//
// Does not own: subscriptions, orders and what an event means for them. Upper
// modules connect their Hooks; this module authenticates, logs, removes
// repetitions, and calls the appliers inside the webhook's transaction.
//
// Words: an event is what a gateway says happened; a log is one delivery of it;
// applying is the change that it makes here. An event is unclaimed, and waits,
// when no module knows its subject yet. A payment is settled once the money
// counts (approved by card, received by PIX); the ledger holds settled payments
// only. An attempt is one try to take a payment. A refund is requested here
// (committed before its gateway is asked) or learned from the gateway; what
// has been given back of a payment follows from the set of all reports of it,
// and the rows of the ledger add up to that. A dispute is a card holder's
// chargeback; an inquiry is one that holds no money yet.
//
// A refund or dispute of gateway B names the payment intent, while the ledger's
// row of a subscription is keyed by the invoice, whose newer events tell no
// intent: such an event waits, and a job asks the gateway for the invoice.
//
// The root makes the rooms and is their only door. Package gateway holds the words in which
// a gateway is spoken to, state those of the ledger's rows that are our own, backoff when a
// gateway is asked again, health what is known of one as a whole, intent the life of an order
// to one, ledger what was paid, given back and disputed; webhook receives events, refund gives
// money back, unapplied decides about money that bought nothing, reconcile compares with the
// gateways. The adapters gwa and gwb are built by the composition root alone; other modules
// see the interface gateway.Gateway.
//
// A webhook is one transaction: claim the event by its key, apply it, log the
// delivery with the result. When applying fails all of it is rolled back, and a
// second transaction claims, logs and queues. The log has a partition a month and
// loses old ones; the keys in processed_events stay for good, so that what has been
// applied is never applied again.
//
// A call that is no gateway's is refused, and costs little however many come: gateway
// A's token, and what of gateway B's signature can be judged without the body, are
// looked at before it is read; the first calls of an hour and address are stored, in a
// table of their own for 7 days, the others counted in memory and written together. No
// genuine call waits for them or is throttled.
//
// Timestamps: received_at and processed_at of a log are ours, event_at and
// settled_at the gateway's.
package payments
