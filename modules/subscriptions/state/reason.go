package state

// Reason says in the history why a subscription moved. Moves that end access
// carry one of the first five, from which churn is told apart
// (finance-definitions, by_reason).
type Reason string

// The reasons.
const (
	ReasonPaymentFailure    Reason = "payment_failure"
	ReasonCustomerCancelled Reason = "customer_cancelled"
	ReasonAdminCancelled    Reason = "admin_cancelled"
	ReasonChargeback        Reason = "chargeback"
	ReasonExpired           Reason = "expired"

	ReasonSubscribed      Reason = "subscribed"
	ReasonRenewed         Reason = "renewed"
	ReasonPaymentSettled  Reason = "payment_settled"
	ReasonRenewalTaken    Reason = "renewal_taken"
	ReasonTrialStarted    Reason = "trial_started"
	ReasonPaymentDeclined Reason = "payment_declined"
	ReasonNothingMade     Reason = "nothing_at_gateway"
	ReasonAbandoned       Reason = "abandoned"
	ReasonReplaced        Reason = "replaced"
	ReasonPixUnpaid       Reason = "pix_unpaid"
	ReasonGatewayStatus   Reason = "gateway_status"
	ReasonWithdrawn       Reason = "withdrawn" // counts under customer_cancelled in by_reason
	ReasonDisputeWon      Reason = "dispute_won"
	// ReasonChargebackWithdrawn undoes the move before it: neither counts in the figures.
	ReasonChargebackWithdrawn Reason = "chargeback_withdrawn"

	ReasonAuthorized     Reason = "authorization_activated"
	ReasonLateMoney      Reason = "late_money"
	ReasonAdminActivated Reason = "admin_activated"
	ReasonGoneAtGateway  Reason = "gone_at_gateway" // counts as admin_cancelled: somebody did it at the gateway's own console
)

// Known is what of a row decides on a reason, before the move.
type Known struct {
	Status            Status
	CancelAtPeriodEnd bool
	HasChargeback     bool
	PaymentFailures   int32
}

func periodEnded(k Known) Reason {
	if k.CancelAtPeriodEnd {
		return ReasonCustomerCancelled
	}
	return ReasonExpired
}

func authorizationCancelled(k Known) Reason {
	if k.Status == Pending {
		return ReasonPixUnpaid
	}
	return ReasonCustomerCancelled
}

// gatewayCancelled is what led to it; without a trace here, somebody did it at the gateway's
// own console.
func gatewayCancelled(k Known) Reason {
	switch {
	case k.HasChargeback:
		return ReasonChargeback
	case k.CancelAtPeriodEnd:
		return ReasonCustomerCancelled
	case k.PaymentFailures > 0:
		return ReasonPaymentFailure
	case k.Status == Pending:
		return ReasonAbandoned
	}
	return ReasonAdminCancelled
}
