// Package gwa is gateway A (the Asaas API, version 3) in miniature: real HTTP, real webhooks, no money.
//
// It owns the gateway's side of the story: customers, cards as tokens, subscriptions with their charges, payments, PIX
// codes, automatic PIX, refunds, chargebacks, the webhook queues and a clock of its own. It knows nothing of the
// platform's modules, and card numbers and security codes are gone once a request has been checked: what stays is the
// last four digits, the brand and a token.
//
// Bodies, ids, status codes, error codes and date forms follow docs/gateway-facts.md, A1 to A11. What is taken as true
// and not proved is marked "unverified" here, and is a switch where the difference matters (see Settings).
//
// What differs from the real thing: one webhook instead of ten; business days are Monday to Friday, without holidays
// (but not in the windows of automatic PIX); an authorization that ends takes every order with it, also tomorrow's; the
// card's charge follows the creation of a subscription within Options.ChargeDelay; the texts of errors that the page
// doesn't quote are our own Portuguese.
//
// The API stands under /v3, the controls under /_sandbox; GET /_sandbox lists them. Each control is also a method of
// Gateway.
//
// The account itself, its rules and its events, is package account; here are the door, the routes, the quota and the
// controls.
//
// Words: a charge is a payment that a subscription made; an authorization is the payer's consent to automatic PIX; an
// instruction is one debit ordered under it; "today" is the date in America/Sao_Paulo.
package gwa
