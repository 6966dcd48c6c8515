// Package refund gives money back: it asks a gateway for a refund, by one call, and finds
// out what became of a request whose answer was lost.
//
// Owns: the order of a refund's steps (RefundPayment; Order, by which checks find it), what
// has a refund followed, and how people are told why there is none.
//
// Does not own: the rows, which the ledger writes, and what a refund means for what was paid
// for (Follower).
package refund
