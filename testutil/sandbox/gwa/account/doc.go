// Package account is the account at gateway A: what it has, what happens to that, and what it tells of it.
//
// It owns the objects (customers, cards as tokens, subscriptions, payments, PIX codes, authorizations of automatic PIX,
// refunds, chargebacks, the webhook), the rules that move them, the dates on which the gateway's clock moves them by
// itself, and the events. It serves no HTTP: bodies are its inputs, and what is printed its views. All of it runs with
// the stage's lock held.
//
// Payments, Subscriptions and Debits are three views of one Ledger: each has the rules of its subject, and asks the
// others where money touches both.
package account
