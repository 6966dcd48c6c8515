// Package orders is the room of purchases as they stand: the row, the one way in which its
// state changes, and what money does to it, be it settled, refunded or disputed.
//
// It owns the tables orders and give_backs, and how orders are shown; no other room writes
// their states. Money of an order ends in charge.go: in the ledger, and in tickets or a
// refund. The call that charges a purchase, and the look for it, are steps of the operation
// Charge, which the room checkout runs; who reads a gateway hands the answer to Settle
// (reconcile) or to SettleTx (webhooks). Refunds are asked for by the room refunds, whose jobs
// are queued here in the transaction that finds them due.
//
// An error that a comment does not name is the database's or the queue's, wrapped in what was tried;
// whoever holds the transaction rolls it back, and comes again.
package orders
