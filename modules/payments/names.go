package payments

import (
	"marquee/modules/payments/ledger"
	"marquee/modules/payments/reconcile"
	"marquee/modules/payments/refund"
	"marquee/modules/payments/state"
	"marquee/modules/payments/unapplied"
	"marquee/modules/payments/webhook"
)

// What the rooms say to the modules above, under the names of this door.
type (
	Dispute             = ledger.Dispute
	DisputeChange       = ledger.DisputeChange
	DisputeRecord       = ledger.DisputeRecord
	Failure             = ledger.Failure
	HandedBack          = ledger.HandedBack
	Record              = ledger.Record
	Refund              = ledger.Refund
	RefundDisputedError = ledger.RefundDisputedError
	RefundRecord        = ledger.RefundRecord
	Unapplied           = ledger.Unapplied

	Confirmation = webhook.Confirmation

	RefundOutcome = refund.Outcome
	RefundRequest = refund.Request

	AutomaticRefunds = unapplied.AutomaticRefunds
	Extension        = unapplied.Extension

	Finding          = reconcile.Finding
	ReconcileOptions = reconcile.Options
	RecordState      = reconcile.State
	ReconcileReport  = reconcile.Report
)

// States, kinds and words of it.
const (
	RefundTakenBack       = state.RefundTakenBack
	ReportedByAdmin       = ledger.ReportedByAdmin
	UnappliedDuplicate    = state.UnappliedDuplicate
	UnappliedForeign      = state.UnappliedForeign
	UnappliedLate         = state.UnappliedLate
	UnappliedOpen         = state.UnappliedOpen
	UnappliedRefunded     = state.UnappliedRefunded
	UnappliedRefunding    = state.UnappliedRefunding
	UnappliedUnknown      = state.UnappliedUnknown
	UnappliedUnrefundable = state.UnappliedUnrefundable

	NoCustomer  = ledger.NoCustomer
	ItsCustomer = ledger.ItsCustomer

	MissedEnd       = reconcile.MissedEnd
	MissedFailure   = reconcile.MissedFailure
	MissedPayment   = reconcile.MissedPayment
	Repairable      = reconcile.Repairable
	Repaired        = reconcile.Repaired
	StrayRecurrence = reconcile.StrayRecurrence
	Unchanged       = reconcile.Unchanged
	BySchedule      = reconcile.BySchedule
	Unknown         = reconcile.Unknown
)

// Errors and makers.
var (
	ErrDisputeOfGateway = ledger.ErrDisputeOfGateway

	ErrRefundTooMuch = refund.ErrTooMuch

	NewReconcileReport = reconcile.NewReport
)
