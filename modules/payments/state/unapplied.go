package state

import "slices"

// Unapplied is where the decision about an unapplied payment stands.
type Unapplied string

// The states (docs/contract/payments.md, Unapplied payments).
const (
	UnappliedOpen      Unapplied = "open"
	UnappliedRefunding Unapplied = "refunding"
	UnappliedRefunded  Unapplied = "refunded"
	UnappliedExtended  Unapplied = "extended"
	UnappliedKept      Unapplied = "kept"
)

// unappliedMoves is the one table of permitted moves. What people have decided stays,
// but for an extension that the gateway refuses, a kept part of which the bank takes back
// more, and what was kept and given back all the same; what a refund makes of a case
// follows the ledger, back too when a refund fails after it was counted.
var unappliedMoves = map[Unapplied][]Unapplied{
	UnappliedOpen:      {UnappliedRefunding, UnappliedRefunded, UnappliedExtended, UnappliedKept},
	UnappliedRefunding: {UnappliedRefunded, UnappliedOpen},
	UnappliedRefunded:  {UnappliedRefunding, UnappliedOpen},
	UnappliedExtended:  {UnappliedOpen},
	UnappliedKept:      {UnappliedOpen, UnappliedRefunded},
}

// Moves reports whether a case may go from a state to another.
func (u Unapplied) Moves(to Unapplied) bool { return slices.Contains(unappliedMoves[u], to) }

// UnappliedKind says why money gave nobody anything.
type UnappliedKind string

// The kinds (docs/contract/payments.md, Unapplied payments).
const (
	UnappliedLate         UnappliedKind = "late"         // for a row that has ended
	UnappliedDuplicate    UnappliedKind = "duplicate"    // a second payment, or that of a recurrence beside the row's own
	UnappliedForeign      UnappliedKind = "foreign"      // of a row that another customer or recurrence owns, or a customer's and of no row
	UnappliedUnrefundable UnappliedKind = "unrefundable" // a refund of it failed, or can never be made
	UnappliedUnknown      UnappliedKind = "unknown"      // an answer not known, or money that nobody can place
)
