package state

// Move is an order to a gateway about a running recurrence: to move it to another plan, or
// its next charge to the end of an extension.
type Move string

// The states of a move.
const (
	MoveOpen    Move = "open"    // the gateway is being asked
	MoveDone    Move = "done"    // it has confirmed
	MoveRefused Move = "refused" // it certainly kept what was; or nothing charges there any more
	MoveVoid    Move = "void"    // the subscription ended first, or the day has come
)

// Pause is an order to collect nothing for a disputed subscription, and later to collect again.
type Pause string

// The states of a pause.
const (
	Pausing   Pause = "pausing"
	Paused    Pause = "paused"
	Resuming  Pause = "resuming"
	Resumed   Pause = "resumed"
	PauseVoid Pause = "void" // the subscription ended first
)

// Retry is a day on which a debit that failed is to be taken again.
type Retry string

// The states of a retry.
const (
	RetryPlanned Retry = "planned"
	RetryOrdered Retry = "ordered"
	RetryRefused Retry = "refused"
	RetryPaid    Retry = "paid"
	RetryDropped Retry = "dropped"
)

// Charge is a PIX code that pays a further period.
type Charge string

// The states of a renewal charge.
const (
	ChargeOpen      Charge = "open"
	ChargePaid      Charge = "paid"
	ChargeUnapplied Charge = "unapplied"
	ChargeGone      Charge = "gone"
)

// Stray is what became of a recurrence that nobody here owned.
type Stray string

// What becomes of a stray.
const (
	StrayEnded Stray = "ended"
	StrayOwned Stray = "owned"
	StrayKept  Stray = "kept" // an admin has kept its charge
)
