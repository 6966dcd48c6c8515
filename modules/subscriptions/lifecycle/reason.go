package lifecycle

import "marquee/modules/subscriptions/state"

// knownOf is what of a row decides on the reason of its next move.
func knownOf(sub Row) state.Known {
	return state.Known{
		Status: sub.Status, CancelAtPeriodEnd: sub.CancelAtPeriodEnd, HasChargeback: sub.HasChargeback, PaymentFailures: sub.PaymentFailures,
	}
}
