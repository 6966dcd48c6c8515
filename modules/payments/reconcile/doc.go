// Package reconcile asks the gateways what has happened and applies what never came, as its
// webhook would have been.
//
// Owns: no table; the findings and the report of `marquee reconcile`, the pause between calls
// of a long series, and the question whether gateway A shows what an event alone has told.
//
// Does not own: applying (webhook.Webhooks), the ledgers, and what modules above compare by
// themselves (their Reconcile, which add to the same Report).
package reconcile
