// Package gwb is the adapter of gateway B, which speaks the Stripe API: it puts
// what package payments needs into Stripe's words, on the official client, and
// reads answers and events in both of its shapes (before and since 2025-03-31,
// page gateway-b of the gateways' reference; "section N" in comments means that
// page). No type of the client leaves the package.
//
// Idempotency keys are made from ids of committed local rows: cust-<customer>,
// attach-<subscription>, sub-<subscription>, pix-<subscription or order>,
// product-<plan>, price-<plan>-<amount>-<interval>. Repeating a call within 24
// hours therefore returns what the first made; later the Find calls look for it.
//
// Errors of the client are never printed as they are: they hold client secrets.
package gwb
