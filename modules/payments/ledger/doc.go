// Package ledger is the lowest room of payments that keeps anything: what was paid, what
// failed to be, what was given back and what is disputed, as the gateways reported it and
// admins asked for it, and the list of money that gave nobody anything.
//
// Owns: payments, failed_attempts, refunds, refund_transitions, refund_reports, disputes, dispute_transitions,
// unapplied_payments, unapplied_decisions and database_marks, the one way in which a case on the list changes its state
// (Cases.MoveTx; the table of moves is in package state), and the jobs that follow from a row (ReplayArgs,
// CaseArgs, CaseMailArgs), which the rooms above work.
//
// Does not own: asking a gateway for anything (rooms refund, unapplied and reconcile), and
// what an event means for a subscription or an order (its Applier). Rooms above write
// what is theirs of these tables, such as when a case is tried again, that a payment was
// shown, or which intent paid: testutil/archtest lists whose queries each may call.
//
// Three types, lower first: Reader reads, Cases keeps the list, Ledger writes the rest. All
// work in the caller's transaction.
//
// An error that a comment does not name is the database's or the queue's, wrapped in what was tried;
// whoever holds the transaction rolls it back, and comes again.
package ledger
