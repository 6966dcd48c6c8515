package state

import (
	"marquee/modules/payments/gateway"
	"marquee/platform/transition"
)

// DisputeAction is what happens to a dispute.
type DisputeAction string

// The actions, beside DisputeReported.
const (
	DisputeRefundsTook  DisputeAction = "refunds_took"  // a PIX as a whole: the payer's bank has the money
	DisputeRefundFailed DisputeAction = "refund_failed" // one of those by which it was taken: the money is with us again
	DisputeTakenBack    DisputeAction = "withdrawn_by_hand"
)

// DisputeReported is the action by which a gateway, or an admin, reports a state.
func DisputeReported(as gateway.DisputeState) DisputeAction { return DisputeAction("reported_" + as) }

// Disputes is the one table of what becomes of a dispute, by the newest report. What was lost
// stays lost, whatever is reported; what an admin withdrew may be reported anew. The reasons stand in
// payments.dispute_transitions, of what changes the state: that of a report is the gateway's word for the state.
var Disputes = transition.Table[gateway.DisputeState, DisputeAction]{
	{By: DisputeReported(gateway.DisputeInquiry), Moves: reportedAs(gateway.DisputeInquiry)},
	{By: DisputeReported(gateway.DisputeOpen), Moves: reportedAs(gateway.DisputeOpen)},
	{By: DisputeReported(gateway.DisputeWon), Moves: reportedAs(gateway.DisputeWon)},
	{By: DisputeReported(gateway.DisputeLost), Moves: reportedAs(gateway.DisputeLost)},
	{By: DisputeReported(gateway.DisputeDismissed), Moves: reportedAs(gateway.DisputeDismissed)},
	{By: DisputeRefundsTook, Reason: "refunds took all of it", Moves: reportedAs(gateway.DisputeLost)},
	{
		By: DisputeRefundFailed, Reason: "a refund of it failed",
		Moves: disputes{gateway.DisputeLost: gateway.DisputeWon},
	},
	{
		By: DisputeTakenBack, Reason: "entered by mistake",
		Moves: disputes{gateway.DisputeOpen: gateway.DisputeWithdrawn},
	},
}

// NotRecorded is the action of what none has moved: a dispute or refund from before the history was kept, one that
// the release before moves while it is being replaced, or somebody at psql.
const NotRecorded = "not_recorded"

type disputes = map[gateway.DisputeState]gateway.DisputeState

func reportedAs(as gateway.DisputeState) disputes {
	return disputes{
		"": as, gateway.DisputeInquiry: as, gateway.DisputeOpen: as, gateway.DisputeWon: as,
		gateway.DisputeDismissed: as, gateway.DisputeWithdrawn: as,
	}
}
