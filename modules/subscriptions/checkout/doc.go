// Package checkout sells subscriptions: by card and PIX at both gateways, with promo codes and
// trials, and as the renewal of one that still runs.
//
// Owns: the subscribe routes, /gwa/subscribe… and /gwb/subscribe…; the first call of a
// subscription to its gateway, from the row that is committed before it to the checks of one whose
// answer is not known (FirstCalls), among it the first month that a card is charged apart.
//
// Does not own: what the answer means (room settle), live reads of a pending one and the end of
// what nobody paid (room recovery), what a customer does afterwards (room selfservice).
package checkout
