// Package lifecycle holds what a subscription's row says, and the only code that moves it, by
// the table of room state.
//
// A change writes the columns in which the row differs from what was read, and no others, if the
// state is still the one that was read. Each is an action or an edit by a name, with the columns
// that it may write.
//
// Owns: subscriptions, transitions, pauses and what of renewal_charges and trial_uses follows
// from a move; days and terms (Calendar, no database), what is read of a subscription (Reads),
// every change of its state (Store); the arguments of the jobs that a change inserts.
//
// Does not own: what money means (room settle), what is asked of the gateways (room calls and
// those above). It calls no gateway.
//
// An error that a comment does not name is the database's or the queue's, wrapped in what was tried;
// whoever holds the transaction rolls it back, and comes again.
// Where a row is no longer in the state that was read, that is an error as well (errMoved): who moved it
// has the row, and the caller reads it again.
package lifecycle
