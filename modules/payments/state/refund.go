package state

import (
	"marquee/modules/payments/gateway"
	"marquee/platform/transition"
)

// RefundKind says whether the money was given or taken back.
type RefundKind string

// The kinds of refunds.
const (
	RefundByUs      RefundKind = "refund"
	RefundTakenBack RefundKind = "med"     // of a PIX, asked for by nobody here
	RefundByHand    RefundKind = "by_hand" // staff handed it back at the box office
)

// RefundReport says what a line that a gateway told of a payment's refunds is: the kinds are
// package ledger's.
type RefundReport string

// RefundAction is what happens to a refund.
type RefundAction string

// The actions.
const (
	RefundRequested RefundAction = "asked"      // here: the gateway is asked next
	RefundUnderWay  RefundAction = "under_way"  // at the gateway
	RefundMade      RefundAction = "made"       // the money counts
	RefundRefused   RefundAction = "refused"    // the gateway certainly made nothing of what was asked
	RefundFailed    RefundAction = "failed"     // at the gateway, which had taken it on
	RefundUncounted RefundAction = "uncounted"  // the gateway's total is lower, or its list shorter
	RefundAsDispute RefundAction = "as_dispute" // what was under way is a dispute's
	RefundReopened  RefundAction = "waits"      // a request that a total was taken for, wrongly
)

// Refunds is the one table of what becomes of a refund. The reasons stand in payments.refund_transitions, and that of
// the last in payments.refunds.failure; that of a refusal is the gateway's word.
var Refunds = transition.Table[gateway.RefundStatus, RefundAction]{
	{By: RefundRequested, Moves: refunds{"": requested}},
	{By: RefundUnderWay, Moves: refunds{"": pending, requested: pending}},
	{By: RefundMade, Moves: refunds{"": done, requested: done, pending: done, failed: done}},
	{By: RefundRefused, Moves: refunds{requested: failed}},
	{
		By: RefundFailed, Reason: "The gateway reports that the refund failed.",
		Moves: refunds{requested: failed, pending: failed, done: failed, failed: failed},
	},
	{By: RefundUncounted, Reason: "The gateway no longer counts it.", Moves: refunds{pending: failed, done: failed}},
	{By: RefundAsDispute, Reason: "It was a dispute, and is recorded as one.", Moves: refunds{pending: failed}},
	{By: RefundReopened, Moves: refunds{done: requested}},
}

type refunds = map[gateway.RefundStatus]gateway.RefundStatus

const (
	requested = gateway.RefundStatusRequested
	pending   = gateway.RefundStatusPending
	done      = gateway.RefundStatusDone
	failed    = gateway.RefundStatusFailed
)

// Origin says who asked for a refund, or decided about a case.
type Origin string

// The origins.
const (
	ByPlatform Origin = "platform" // by itself; of a refund, also because a customer withdrew
	ByAdmin    Origin = "admin"
	ByGateway  Origin = "gateway" // learned from it
)
