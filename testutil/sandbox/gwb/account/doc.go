// Package account is the account at gateway B: what it has, what happens to that, and what it tells of it.
//
// It owns the objects (customers, payment methods, setup intents, products, prices, coupons, subscriptions, invoices,
// payment intents with PIX, charges, refunds, disputes, events), each with the calls about it, the dates on which the
// gateway's clock moves them by itself, and both shapes of events. A call comes as a Request, whose parameters its
// route knows; keys, idempotency and controls are those of package gwb. All of it runs with the stage's lock held.
package account
