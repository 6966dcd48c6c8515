// Package recovery finds out about a subscription that waits: a live read of a pending one, whose
// payer has to confirm it. It ends what nobody paid in time, what a new order replaces, and what
// is over.
//
// Owns: no table.
//
// Does not own: the first call and its checks (room checkout), what the answer means (room settle).
package recovery
