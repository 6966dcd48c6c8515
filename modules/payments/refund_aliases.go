package payments

import "marquee/modules/payments/refund"

// Types of refund.
type (
	RefundFollower   = refund.Follower
	RefundFoundError = refund.FoundError
	RefundOpenError  = refund.OpenError
	RefundOutcome    = refund.Outcome
	RefundRequest    = refund.Request
)

// Errors and functions of refund.
var (
	ErrRefundTooMuch = refund.ErrTooMuch
)
