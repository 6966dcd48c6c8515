package state

import (
	"maps"
	"slices"

	"marquee/platform/transition"
)

// NotRecorded is the action of what none has moved: an order from before the history was kept, one that the release
// before moves while it is being replaced, or somebody at psql.
const NotRecorded = "not_recorded"

// Move is an order to a gateway about a running recurrence: to move it to another plan, or
// its next charge to the end of an extension.
type Move string

// The states of a move.
const (
	MoveOpen    Move = "open" // the gateway is being asked
	MoveDone    Move = "done"
	MoveRefused Move = "refused"
	MoveVoid    Move = "void"
)

// MoveAction is what happens to a move.
type MoveAction string

// The actions.
const (
	MoveRequested MoveAction = "asked" // by an admin, or for a payment that is to lengthen a subscription
	MoveConfirmed MoveAction = "confirmed"
	MoveUnchanged MoveAction = "kept"      // the gateway certainly kept what was; or nothing charges there any more
	MoveOvertaken MoveAction = "overtaken" // the subscription ended first, or the day has come
)

// Moves is the one table of what becomes of a move. The reasons stand in subscriptions.order_transitions.
var Moves = transition.Table[Move, MoveAction]{
	{By: MoveRequested, Reason: "ordered here", Moves: map[Move]Move{"": MoveOpen}},
	{By: MoveConfirmed, Reason: "the gateway has confirmed it", Moves: map[Move]Move{MoveOpen: MoveDone}},
	{By: MoveUnchanged, Reason: "the gateway keeps what was", Moves: map[Move]Move{MoveOpen: MoveRefused}},
	{By: MoveOvertaken, Reason: "ended, or the day has come", Moves: map[Move]Move{MoveOpen: MoveVoid}},
}

// Pause is an order to collect nothing for a disputed subscription, and later to collect again.
type Pause string

// The states of a pause.
const (
	Pausing   Pause = "pausing"
	Paused    Pause = "paused"
	Resuming  Pause = "resuming"
	Resumed   Pause = "resumed"
	PauseVoid Pause = "void"
)

// Requested reports whether the gateway has still to do what the pause wants.
func (p Pause) Requested() bool { return p == Pausing || p == Resuming }

// PauseAction is what happens to a pause.
type PauseAction string

// The actions.
const (
	PauseDisputed   PauseAction = "disputed"           // a dispute is open
	PauseDebitFound PauseAction = "debit_found"        // ordered before the pause, and known only now
	PauseLifted     PauseAction = "lifted"             // the dispute keeps the subscription closed no more
	PauseStopped    PauseAction = "collection_stopped" // the gateway has confirmed it
	PauseRestarted  PauseAction = "collection_resumed" // the gateway has confirmed it
	PauseOvertaken  PauseAction = "subscription_ended"
)

// Pauses is the one table of what becomes of a pause. The reasons stand in subscriptions.order_transitions, of what
// changes the state.
var Pauses = transition.Table[Pause, PauseAction]{
	{
		By: PauseDisputed, Reason: "the money is disputed",
		Moves: pauses{"": Pausing, Pausing: Pausing, Paused: Paused, Resuming: Pausing},
	},
	{
		By: PauseDebitFound, Reason: "a debit was ordered before",
		Moves: pauses{Pausing: Pausing, Paused: Pausing, Resuming: Resuming},
	},
	{
		By: PauseLifted, Reason: "no dispute keeps it closed",
		Moves: pauses{Pausing: Resuming, Paused: Resuming, Resuming: Resuming},
	},
	{By: PauseStopped, Reason: "the gateway collects nothing", Moves: pauses{Pausing: Paused}},
	{By: PauseRestarted, Reason: "the gateway collects again", Moves: pauses{Resuming: Resumed}},
	{By: PauseOvertaken, Reason: "ended", Moves: pauses{Pausing: PauseVoid, Paused: PauseVoid, Resuming: PauseVoid}},
}

type pauses = map[Pause]Pause

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

// RetryAction is what happens to the retries of a debit.
type RetryAction string

// The actions.
const (
	RetryAfterFailure RetryAction = "debit_failed"
	RetryPastCycle    RetryAction = "day_of_the_next_cycle"
	RetryTooLate      RetryAction = "day_too_near" // the bank has to know the day before
	RetryTaken        RetryAction = "order_taken"  // by the gateway
	RetryRejected     RetryAction = "order_rejected"
	RetryFails        RetryAction = "bank_refused"          // the day's own order
	RetryFailsForGood RetryAction = "bank_refused_for_good" // no further day would help
	RetryOrderOver    RetryAction = "order_over"            // cancelled, or final, at the gateway
	RetryDebitPaid    RetryAction = "debit_paid"
	RetryDebitDeleted RetryAction = "debit_deleted" // at the gateway, and asked for no more
	RetryDisputed     RetryAction = "disputed"
	RetryOvertaken    RetryAction = "subscription_ended"
)

// Retries is the one table of what becomes of a retry. The reasons stand in subscriptions.order_transitions, those of
// what was refused or dropped in debit_retries, too. An action without a reason of its own has the gateway's word.
var Retries = transition.Table[Retry, RetryAction]{
	{By: RetryAfterFailure, Reason: "the debit failed", Moves: retries{"": RetryPlanned}},
	{By: RetryPastCycle, Reason: "the next cycle", Moves: retries{"": RetryDropped}},
	{
		By: RetryTooLate, Reason: "too late",
		Moves: retries{"": RetryDropped, RetryPlanned: RetryDropped, RetryOrdered: RetryDropped},
	},
	{By: RetryTaken, Reason: "taken by the gateway", Moves: retries{RetryPlanned: RetryOrdered}},
	{By: RetryRejected, Moves: allDropped},
	{By: RetryFails, Moves: retries{RetryPlanned: RetryRefused, RetryOrdered: RetryRefused}},
	{By: RetryFailsForGood, Moves: retries{RetryPlanned: RetryDropped, RetryOrdered: RetryRefused}},
	{By: RetryOrderOver, Moves: allDropped},
	{By: RetryDebitPaid, Reason: "paid", Moves: retries{RetryPlanned: RetryDropped, RetryOrdered: RetryPaid}},
	{By: RetryDebitDeleted, Moves: allDropped},
	{By: RetryDisputed, Reason: "the money is disputed", Moves: allDropped},
	{By: RetryOvertaken, Reason: "ended", Moves: allDropped},
}

type retries = map[Retry]Retry

var allDropped = retries{RetryPlanned: RetryDropped, RetryOrdered: RetryDropped}

// Charge is a PIX code that pays a further period.
type Charge string

// The states of a renewal charge.
const (
	ChargeOpen      Charge = "open"
	ChargePaid      Charge = "paid"
	ChargeUnapplied Charge = "unapplied"
	ChargeGone      Charge = "gone"
)

// ChargeEdit is what changes a renewal charge.
type ChargeEdit string

// The edits of a renewal charge.
const (
	CodeOrdered   ChargeEdit = "code_ordered"
	CodeMade      ChargeEdit = "code_made" // the gateway has made it
	CodePaid      ChargeEdit = "code_paid"
	CodeUnapplied ChargeEdit = "code_unapplied" // paid when there was no end to move
	CodeGone      ChargeEdit = "code_gone"      // it can no longer be paid
)

// Charges is the one table of what becomes of a renewal charge. Money may come for a code that is gone. The reasons
// stand in subscriptions.order_transitions, of what changes the state.
var Charges = transition.Table[Charge, ChargeEdit]{
	{By: CodeOrdered, Reason: "a further period", Moves: charges{"": ChargeOpen}},
	{By: CodeMade, Moves: charges{
		ChargeOpen: ChargeOpen, ChargePaid: ChargePaid, ChargeUnapplied: ChargeUnapplied, ChargeGone: ChargeGone,
	}},
	{By: CodePaid, Reason: "paid", Moves: charges{
		ChargeOpen: ChargePaid, ChargePaid: ChargePaid, ChargeUnapplied: ChargePaid, ChargeGone: ChargePaid,
	}},
	{By: CodeUnapplied, Reason: "paid, and no end to move", Moves: charges{
		ChargeOpen: ChargeUnapplied, ChargePaid: ChargePaid, ChargeUnapplied: ChargeUnapplied, ChargeGone: ChargeUnapplied,
	}},
	{By: CodeGone, Reason: "can no longer be paid", Moves: charges{ChargeOpen: ChargeGone}},
}

type charges = map[Charge]Charge

// The columns of a renewal charge, beside those of its code.
var (
	chargeState = Columns{"state"}
	codeOrder   = Columns{"intent_open"} // whether its order is open
	codePayment = Columns{"gateway_payment_id"}
)

// chargeEdits are what each of them may write.
var chargeEdits = map[ChargeEdit]Columns{
	CodeGone:      of(chargeState, codeOrder),
	CodeMade:      of(codeOrder, codePayment, code),
	CodePaid:      of(chargeState, codeOrder, codePayment, Columns{"moved_from", "moved_to"}),
	CodeUnapplied: of(chargeState, codeOrder, codePayment),
}

// ChargeEdits are all edits of a renewal charge.
var ChargeEdits = slices.Sorted(maps.Keys(chargeEdits))

// ChargeEditedBy are the columns that an edit of a renewal charge may write.
func ChargeEditedBy(as ChargeEdit) Columns { return chargeEdits[as] }

// Stray is what became of a recurrence that nobody here owned.
type Stray string

// What becomes of a stray.
const (
	StrayEnded Stray = "ended"
	StrayOwned Stray = "owned"
	StrayKept  Stray = "kept" // an admin has kept its charge
)
