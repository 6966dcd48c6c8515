package settle

import (
	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/state"
)

// IsFirst reports whether the payment is the one-off that began a subscription
// whose recurrence is charged apart: the first code of an automatic PIX, a first
// month that a promo code lowered.
func IsFirst(sub lifecycle.Row, e gateway.Event) bool {
	if sub.PixAutomatic {
		return e.ConciliationID != "" && e.ConciliationID == lifecycle.Text(sub.PixConciliationID)
	}
	return sub.FirstAmountCents != nil && e.Gateway.Traits().FirstMonthApart && e.SubscriptionID == ""
}

// SourceOf says who brought an event: the gateway itself, or what was read of it.
func SourceOf(e gateway.Event) state.Source {
	switch e.Type {
	case gateway.Reconciled:
		return state.ByReconcile
	case gateway.ReadLive:
		return state.ByLiveRead
	}
	return state.ByWebhook
}

// EventOf is the event's id for the history, nil for what is none of the gateway's.
func EventOf(e gateway.Event) *string { return lifecycle.Filled(e.ID) }

// IsOthers reports whether the ledger has a payment as that of something else.
func IsOthers(sub lifecycle.Row, known *gateway.LedgerPayment) bool {
	return known != nil && (known.Purpose != gateway.ForSubscription || known.LocalID != sub.ID)
}
