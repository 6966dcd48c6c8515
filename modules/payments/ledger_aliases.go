package payments

import "marquee/modules/payments/ledger"

// Types of ledger.
type (
	Dispute             = ledger.Dispute
	DisputeChange       = ledger.DisputeChange
	DisputeRecord       = ledger.DisputeRecord
	Failure             = ledger.Failure
	PaidFor             = ledger.PaidFor
	Record              = ledger.Record
	Refund              = ledger.Refund
	RefundChange        = ledger.RefundChange
	RefundDisputedError = ledger.RefundDisputedError
	RefundKind          = ledger.RefundKind
	RefundRecord        = ledger.RefundRecord
	RefundedPayment     = ledger.RefundedPayment
	Unapplied           = ledger.Unapplied
	UnappliedKind       = ledger.UnappliedKind
	UnappliedState      = ledger.UnappliedState
)

// Constants of ledger.
const (
	RefundByUs            = ledger.RefundByUs
	RefundTakenBack       = ledger.RefundTakenBack
	ReportedByAdmin       = ledger.ReportedByAdmin
	UnappliedDuplicate    = ledger.UnappliedDuplicate
	UnappliedExtended     = ledger.UnappliedExtended
	UnappliedForeign      = ledger.UnappliedForeign
	UnappliedKept         = ledger.UnappliedKept
	UnappliedLate         = ledger.UnappliedLate
	UnappliedOpen         = ledger.UnappliedOpen
	UnappliedRefunded     = ledger.UnappliedRefunded
	UnappliedRefunding    = ledger.UnappliedRefunding
	UnappliedUnknown      = ledger.UnappliedUnknown
	UnappliedUnrefundable = ledger.UnappliedUnrefundable
)

// Errors and functions of ledger.
var (
	ErrDisputeOfGateway = ledger.ErrDisputeOfGateway
)
