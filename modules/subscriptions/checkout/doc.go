// Package checkout sells subscriptions: by card and PIX at both gateways, with promo codes and
// trials, and as the renewal of one that still runs.
//
// Owns: the subscribe routes, /gwa/subscribe… and /gwb/subscribe…. The row is committed before
// the gateway is called.
//
// Does not own: what a customer does afterwards (room own), calls without an answer (room recovery).
package checkout
