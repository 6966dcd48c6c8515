package payments

import "marquee/modules/payments/reconcile"

// Types of reconcile.
type (
	Finding          = reconcile.Finding
	FindingKind      = reconcile.FindingKind
	ReconcileOptions = reconcile.Options
	ReconcileReport  = reconcile.Report
	Verdict          = reconcile.Verdict
)

// Constants of reconcile.
const (
	MissedDispute   = reconcile.MissedDispute
	MissedEnd       = reconcile.MissedEnd
	MissedEvent     = reconcile.MissedEvent
	MissedFailure   = reconcile.MissedFailure
	MissedPayment   = reconcile.MissedPayment
	MissedRefund    = reconcile.MissedRefund
	Repairable      = reconcile.Repairable
	Repaired        = reconcile.Repaired
	StrayRecurrence = reconcile.StrayRecurrence
	Unchanged       = reconcile.Unchanged
	Unknown         = reconcile.Unknown
	UnshownDispute  = reconcile.UnshownDispute
	UnshownPayment  = reconcile.UnshownPayment
	UnshownRefund   = reconcile.UnshownRefund
)

// Errors and functions of reconcile.
var (
	NewReconcileReport = reconcile.NewReport
)
