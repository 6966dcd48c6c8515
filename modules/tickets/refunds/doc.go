// Package refunds is the room of giving money back: the admin's refund of tickets or of an order,
// the buyer's withdrawal, and the calling off of an event with all that was paid for it.
//
// It owns no table alone: which orders are given back stands in give_backs, which it shares with the
// room orders. The refunds themselves are made, recovered and kept by the module payments; what they
// do to order and tickets is done by the room orders, whoever learns of it.
package refunds
