// Package webhook receives what the gateways report, applies each event once, and keeps
// the log of it.
//
// Owns: webhook_logs, refused_webhooks, refused_webhook_counts and processed_events; POST
// /webhooks/gwa and /webhooks/gwb, the counts and the replay of /webhook-logs; the jobs that
// apply an event again, ask the gateway for what an event of gateway A tells, forget a
// person, and keep the log's months.
//
// Does not own: what an event means. An Applier of a module above says it, in the
// transaction that receives the event (Webhooks.Connect).
//
// Three types: Refusals for calls that no gateway made, Log for what was delivered,
// Webhooks for events. Events that reconciliation finds are applied by the same functions
// (Receive, ApplyTx).
package webhook
