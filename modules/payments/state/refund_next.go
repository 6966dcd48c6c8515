package state

import "marquee/modules/payments/gateway"

// RefundStep is what happens next to a refund, or what staff have to do.
type RefundStep string

// The steps.
const (
	RefundFinished     RefundStep = "nothing_left_to_do"    // the money counts as given back, or went back by a dispute
	RefundUnresolved   RefundStep = "awaiting_answer"       // the gateway has not answered: it is asked again by itself
	RefundWord         RefundStep = "awaiting_webhook"      // the gateway is at it, and tells its end by a webhook
	RefundBank         RefundStep = "awaiting_dispute"      // the payer's bank holds the money: the dispute decides
	RefundAgain        RefundStep = "refund_again"          // nothing was asked of the gateway: ask for it once more
	RefundRefusal      RefundStep = "read_and_refund_again" // refused: mend the reason, then ask once more
	RefundBalance      RefundStep = "fund_and_refund_again" // denied, for want of balance most often
	RefundOtherWay     RefundStep = "pay_by_hand"           // it could not be delivered: by another way
	RefundComparison   RefundStep = "compare_with_gateway"
	RefundOvertaken    RefundStep = "asked_for_again"  // another refund of the payment was asked for since
	RefundCaseDecision RefundStep = "decide_unapplied" // it waits on the list of unapplied payments
)

// Reasons of refusals that are the platform's own words.
const (
	// RefundFailedDisputed is why a refund failed that the gateway refuses while the payer's bank
	// holds the money, or has taken it.
	RefundFailedDisputed = "The payment is disputed: its money is with the payer's bank."
	// RefundFailedUnasked begins why a refund failed that its gateway was not there to take.
	RefundFailedUnasked = "The gateway was not available: nothing was requested."
)

// NextOfRefund is a row of the table of what is next.
type NextOfRefund struct {
	Status gateway.RefundStatus
	Reason string // the failure begins so; "" is any
	// FromBalance: only where the gateway pays refunds from the account's balance.
	FromBalance bool
	Step        RefundStep
}

// NextOfRefunds is the one table of what is next, the first row that fits: of a refund that was overtaken, or whose
// payment waits on the list of unapplied payments, that goes before (ledger.Refunds).
var NextOfRefunds = []NextOfRefund{
	{Status: requested, Step: RefundUnresolved},
	{Status: pending, Step: RefundWord},
	{Status: done, Step: RefundFinished},
	{Status: failed, Reason: Refunds.ReasonOf(RefundAsDispute), Step: RefundFinished},
	{Status: failed, Reason: RefundFailedDisputed, Step: RefundBank},
	{Status: failed, Reason: RefundFailedUnasked, Step: RefundAgain},
	{Status: failed, Reason: Refunds.ReasonOf(RefundFailed), FromBalance: true, Step: RefundBalance},
	{Status: failed, Reason: Refunds.ReasonOf(RefundFailed), Step: RefundOtherWay},
	{Status: failed, Reason: Refunds.ReasonOf(RefundUncounted), Step: RefundComparison},
	{Status: failed, Step: RefundRefusal},
}

// RefundSteps are all steps.
func RefundSteps() []string {
	all := []RefundStep{
		RefundFinished, RefundUnresolved, RefundWord, RefundBank, RefundAgain, RefundRefusal, RefundBalance, RefundOtherWay,
		RefundComparison, RefundOvertaken, RefundCaseDecision,
	}
	words := make([]string, len(all))
	for i, step := range all {
		words[i] = string(step)
	}
	return words
}
