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

// Reasons are the reasons of actions that have one alone.
var Reasons = map[Action]Reason{
	Subscribe: ReasonSubscribed, Renew: ReasonRenewed, PaymentSettles: ReasonPaymentSettled, TrialStarts: ReasonTrialStarted,
	RenewalTaken:    ReasonRenewalTaken,
	PaymentDeclined: ReasonPaymentDeclined, NothingAtGateway: ReasonNothingMade, LiveReadDead: ReasonAbandoned,
	Replaced: ReasonReplaced, PixRunsOut: ReasonPixUnpaid,
	GatewaySaysActive: ReasonGatewayStatus, GatewaySaysSuspended: ReasonPaymentFailure, GatewaySaysIncomplete: ReasonGatewayStatus,
	GatewaySaysExpired: ReasonExpired, GoneAtGateway: ReasonGoneAtGateway,
	PaymentFails: ReasonPaymentFailure, PaymentFailsTooOften: ReasonPaymentFailure,
	DisputeOpens: ReasonChargeback, DisputeWon: ReasonDisputeWon, DisputeLost: ReasonChargeback,
	ChargebackWithdrawn: ReasonChargebackWithdrawn, UnpaidWithdrawn: ReasonChargebackWithdrawn,
	AuthorizationActivated: ReasonAuthorized, AuthorizationCancelled: ReasonCustomerCancelled, AuthorizationExpired: ReasonExpired,
	LateMoney: ReasonLateMoney, CustomerCancels: ReasonCustomerCancelled, CustomerWithdraws: ReasonWithdrawn, AdminCancels: ReasonAdminCancelled, AdminActivates: ReasonAdminActivated,
	AdminSuspends: ReasonAdminCancelled, AdminExpires: ReasonAdminCancelled,
}
