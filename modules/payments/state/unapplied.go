package state

import "marquee/platform/transition"

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

// UnappliedAction is what happens to an unapplied payment.
type UnappliedAction string

// The actions.
const (
	UnappliedListed             UnappliedAction = "listed"               // by the column's default
	UnappliedAutomaticRefund    UnappliedAction = "automatic_refund"     // by the platform, within its limits
	UnappliedAdminRefunds       UnappliedAction = "admin_refunds"        // for a reason of theirs, or the platform's
	UnappliedAdminExtends       UnappliedAction = "admin_extends"        // a living subscription by it
	UnappliedAdminKeeps         UnappliedAction = "admin_keeps"          // the money stays with us
	UnappliedRefundUnderWay     UnappliedAction = "refund_under_way"     // in the ledger, whoever has asked for it
	UnappliedRefundDone         UnappliedAction = "refund_done"          // of the whole payment
	UnappliedRefundedAfterAll   UnappliedAction = "refunded_after_all"   // the same, of what was to stay
	UnappliedRestRefunded       UnappliedAction = "rest_refunded"        // and a lost dispute has taken the other part
	UnappliedPartRefunded       UnappliedAction = "part_refunded"        // by a refund that was not decided here
	UnappliedPartLeft           UnappliedAction = "part_left"            // of what the payer's bank took back
	UnappliedGatewayUnavailable UnappliedAction = "gateway_unavailable"  // its refund may be made later all the same
	UnappliedRefundFailed       UnappliedAction = "refund_failed"        // people decide
	UnappliedRefundNotRequested UnappliedAction = "refund_not_requested" // the ledger has none
	UnappliedPaymentDisputed    UnappliedAction = "payment_disputed"     // so that the gateway was not asked
	UnappliedTakenBackFirst     UnappliedAction = "taken_back_first"     // before the refund that was decided
	UnappliedTakenBack          UnappliedAction = "taken_back"           // all of it
	UnappliedMoreTakenBack      UnappliedAction = "more_taken_back"      // than people knew when they kept it
	UnappliedTakeBackFailed     UnappliedAction = "take_back_failed"     // the money is with us again
	UnappliedExtensionRefused   UnappliedAction = "extension_refused"    // by the gateway that was to charge later
	UnappliedConfirmed          UnappliedAction = "confirmed"            // by its gateway: an event alone had told it
	UnappliedIntentUnknown      UnappliedAction = "intent_unknown"       // for a day, after an earlier one was decided
	UnappliedIntentEnded        UnappliedAction = "intent_ended"         // what was not known for a day has its answer
)

// UnappliedPayments is the one table of what becomes of an unapplied payment. What people have decided stays, but for
// an extension that the gateway refuses, a kept part of which the bank takes back more, and what was kept and given
// back all the same; what a refund makes of a case follows the ledger, back too when a refund fails after it was
// counted. The reasons stand in payments.unapplied_decisions; an action without one has that of a person or a note, or
// none.
var UnappliedPayments = transition.Table[Unapplied, UnappliedAction]{
	{By: UnappliedListed, Moves: cases{"": UnappliedOpen}},
	{
		By: UnappliedAutomaticRefund, Reason: "The payment could not be applied to any subscription.",
		Moves: cases{UnappliedOpen: UnappliedRefunding},
	},
	{By: UnappliedAdminRefunds, Moves: cases{UnappliedOpen: UnappliedRefunding}},
	{By: UnappliedAdminExtends, Moves: cases{UnappliedOpen: UnappliedExtended}},
	{By: UnappliedAdminKeeps, Moves: keeps},
	{
		By:    UnappliedRefundUnderWay,
		Moves: cases{UnappliedOpen: UnappliedRefunding, UnappliedRefunded: UnappliedRefunding},
	},
	{By: UnappliedRefundDone, Moves: refundedBy},
	{
		By: UnappliedRefundedAfterAll, Reason: "All of it was given back, as by a withdrawal.",
		Moves: cases{UnappliedKept: UnappliedRefunded},
	},
	{By: UnappliedRestRefunded, Reason: "What a lost dispute left of it was given back.", Moves: refundedBy},
	{By: UnappliedPartRefunded, Reason: "A part was given back.", Moves: refundEnds},
	{By: UnappliedPartLeft, Reason: "Something of the payment is left.", Moves: refundFails},
	{By: UnappliedGatewayUnavailable, Reason: "The gateway did not answer.", Moves: refundFails},
	{By: UnappliedRefundFailed, Reason: "A refund failed.", Moves: refundFails},
	{By: UnappliedRefundNotRequested, Reason: "The refund was not requested.", Moves: refundEnds},
	{By: UnappliedPaymentDisputed, Reason: "The payment is disputed.", Moves: refundEnds},
	{By: UnappliedTakenBackFirst, Reason: "The payer's bank has taken the money back.", Moves: refundEnds},
	{By: UnappliedTakenBack, Reason: "All of the payment was taken back.", Moves: keeps},
	{By: UnappliedMoreTakenBack, Reason: "More of it went back.", Moves: reopens},
	{
		By: UnappliedTakeBackFailed, Reason: "A refund by which the payer's bank took the payment back has failed.",
		Moves: reopens,
	},
	{
		By: UnappliedExtensionRefused, Reason: "The gateway refuses to charge the subscription later:",
		Moves: cases{UnappliedExtended: UnappliedOpen},
	},
	{
		By: UnappliedConfirmed, Moves: keeps,
		Reason: "The gateway now shows it as paid: what it pays for was granted, and stays granted.",
	},
	{By: UnappliedIntentUnknown, Moves: reopens},
	{By: UnappliedIntentEnded, Moves: keeps},
}

type cases = map[Unapplied]Unapplied

// Moves of several actions.
var (
	keeps       = cases{UnappliedOpen: UnappliedKept}
	reopens     = cases{UnappliedKept: UnappliedOpen}
	refundedBy  = cases{UnappliedOpen: UnappliedRefunded, UnappliedRefunding: UnappliedRefunded}
	refundEnds  = cases{UnappliedRefunding: UnappliedOpen}
	refundFails = cases{UnappliedRefunding: UnappliedOpen, UnappliedRefunded: UnappliedOpen} // also once it was counted
)

// UnappliedReason is what the history says of an action: the table's sentence, what a person or a note words, or both
// where the sentence ends in a colon.
func UnappliedReason(by UnappliedAction, words string) string {
	reason := UnappliedPayments.ReasonOf(by)
	if reason != "" && words != "" {
		reason += " "
	}
	return reason + words
}

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
