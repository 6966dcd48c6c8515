// Package gwb is gateway B (Stripe, API 2026-03-25.dahlia) in miniature, for development and tests: customers,
// payment methods, setup intents, products, prices, subscriptions, invoices, payment intents with PIX, charges,
// refunds, disputes and events over real HTTP, with form bodies, expansion, idempotency keys, test cards, a virtual
// clock and signed webhooks. What it imitates, and from which source each rule comes, is written in
// docs/gateway-facts.md, B1 to B11.
//
// It knows nothing of the product's modules and holds no card number: a number is turned into a behaviour and its
// last four digits at the edge.
//
// The account itself, its objects with their routes, rules and events, is package account; here are the door, how a
// call is answered, and the controls.
//
// Words: shape is the form of objects inside events ("dahlia", or "pre-basil" as before 2025-03-31); API answers
// always have the dahlia form, as the official client asks for it. An outcome is what a test card does when it is
// charged. Dunning is the row of retries of an unpaid renewal.
//
// Money is in cents, times are unix seconds of the virtual clock.
//
// Simplifications: an invoice is finalised when it is made; a discount is one coupon of an amount; there are no taxes,
// prorations, mandates or partial captures.
package gwb
