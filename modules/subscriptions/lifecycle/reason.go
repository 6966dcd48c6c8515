package lifecycle

import "marquee/modules/subscriptions/state"

// reasonFor names the reason of a move. A gateway's cancelling has that of what
// led to it; without a trace here, somebody did it at the gateway's own console.
func reasonFor(by state.Action, sub Row) state.Reason {
	switch by {
	case state.PeriodEnds:
		if sub.CancelAtPeriodEnd {
			return state.ReasonCustomerCancelled
		}
		return state.ReasonExpired
	case state.AuthorizationCancelled:
		if sub.Status == state.Pending {
			return state.ReasonPixUnpaid
		}
		return state.ReasonCustomerCancelled
	case state.GatewaySaysCancelled:
		switch {
		case sub.HasChargeback:
			return state.ReasonChargeback
		case sub.CancelAtPeriodEnd:
			return state.ReasonCustomerCancelled
		case sub.PaymentFailures > 0:
			return state.ReasonPaymentFailure
		case sub.Status == state.Pending:
			return state.ReasonAbandoned
		default:
			return state.ReasonAdminCancelled
		}
	default:
		return state.Reasons[by]
	}
}
