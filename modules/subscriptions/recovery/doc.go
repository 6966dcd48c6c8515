// Package recovery has the first call of a subscription to its gateway, whichever way it is
// paid, and what finds out about it: a look at one whose answer is not known, a live read of a
// pending one. It ends what nobody paid in time, and what a gateway did not end at once.
//
// Owns: no table; the steps of the first call (FirstCalls), among them the first month that a
// card is charged apart.
//
// Does not own: what the answer means (room settle).
package recovery
