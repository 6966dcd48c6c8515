// Package subscriptions sells access: plans, subscriptions with their states,
// renewals as the gateways report them, and the answer to "may this customer
// watch now?".
//
// Owns: the schema subscriptions (plans, subscriptions, transitions, trial_uses, debits,
// debit_retries, pauses, plan_moves, charge_moves, renewal_charges and the history of these,
// order_transitions, dunning_mails, stray_recurrences), the subscribe routes of both gateways, the
// customer's own subscription and PIX code, the plans, what admins do with
// subscriptions, the mails about failed payments, and the job that compares with
// the gateways.
//
// Its rooms, lower first: state (words, the table of moves), lifecycle (rows, days, the store that
// alone moves one), calls (ends and repeats at the gateways),
// plans, debits (automatic PIX, pauses), extensions, dunning, disputes, settle (what money and
// answers mean), charges (PIX codes for a further period), webhooks, retries, recovery,
// reconcile, strays, checkout, withdrawal, selfservice (a customer's own subscription) and admin. This
// package makes them, lists their routes and jobs, and is the door of other modules.
//
// Does not own: the gateways, the webhooks and the ledger of payments (module
// payments, which calls ApplyEventTx); customers and their
// current_subscription_id (module accounts, written through its functions).
//
// Words: an intent is an order to a gateway that is committed with its row before
// the gateway is called (package intent of payments); intent_open of a subscription says that
// its first call is one. To settle is to write what the gateway says, whoever heard it: the
// request, a webhook, a check, the nightly reconciliation. A live subscription is active, pending or suspended, and a
// customer has at most one, beside which one renewal may wait for the gateway to take
// its card. A renewal charge is a PIX code that pays a further period. Late money is a payment of a subscription that
// had ended before.
//
// Timestamps: started_at is the first instant of access; next_billing_date the
// end of the paid period while a recurrence runs; expires_at the end of access
// where none does (PIX periods, cancelled at period end); ended_at when it
// became cancelled or expired. last_event_at is the gateway's clock, all others
// are ours.
package subscriptions
