package state

// RefundKind says whether the money was given or taken back.
type RefundKind string

// The kinds of refunds.
const (
	RefundByUs      RefundKind = "refund"
	RefundTakenBack RefundKind = "med" // of a PIX, asked for by nobody here
)
