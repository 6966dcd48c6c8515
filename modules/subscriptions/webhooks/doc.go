// Package webhooks finds the subscription that a gateway's event is about (Locator) and applies
// the event to it (Applier).
//
// Owns: no table. What an event tells that is no proof has the gateway asked first, by a job of
// room reconcile.
//
// Does not own: what money means (room settle), the log of webhooks (module payments).
package webhooks
