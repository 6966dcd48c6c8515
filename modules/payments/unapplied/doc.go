// Package unapplied decides what becomes of money that gave nobody anything: an admin
// refunds, extends or keeps a case of GET /admin/finance/unapplied-payments, and what may be
// refunded without a person is, within limits.
//
// Owns: the decisions, their routes, the jobs and the sweep, the mail to the payer, the
// metric, and the limits of automatic refunds.
//
// Does not own: the list itself, the states and their table of moves (package state, moved by
// ledger.Cases), the refund (room refund), and how a payment lengthens a subscription (Extender).
package unapplied
