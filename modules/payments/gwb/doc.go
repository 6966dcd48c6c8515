// Package gwb is the adapter of gateway B, which speaks the Stripe API: it puts
// what package payments needs into Stripe's words, on the official client, and
// reads answers and events in both of its shapes (before and since 2025-03-31,
// docs/gateway-facts.md, B1 to B11). No type of the client leaves the package.
//
// Idempotency keys are made from ids of committed local rows: cust-<customer>,
// attach-<subscription>, sub-<subscription>, pix-<subscription or order>,
// product-<plan>, price-<plan>-<amount>-<interval>. Repeating a call within 24
// hours therefore returns what the first made; later the Find calls look for it.
//
// Errors of the client are never printed as they are: they hold client secrets.
package gwb
