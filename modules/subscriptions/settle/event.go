package settle

import (
	"marquee/modules/payments"
	"marquee/modules/subscriptions/lifecycle"
)

// Words of results that changed nothing.
const (
	IgnoredEnded = "the subscription has ended"
	IgnoredOlder = "older than what is known"
	// IgnoredOthers: of the payment that the event tells.
	IgnoredOthers = "the payment is booked for something else"
)

// IsFirst reports whether the payment is the one-off that began a subscription
// whose recurrence is charged apart: the first code of an automatic PIX, a first
// month that a promo code lowered.
func IsFirst(sub lifecycle.Row, e payments.Event) bool {
	if sub.PixAutomatic {
		return e.ConciliationID != "" && e.ConciliationID == lifecycle.Text(sub.PixConciliationID)
	}
	return sub.FirstAmountCents != nil && e.Gateway == payments.GWA && e.SubscriptionID == ""
}

// SourceOf says who brought an event: the gateway itself, or what was read of it.
func SourceOf(e payments.Event) lifecycle.Source {
	switch e.Type {
	case payments.Reconciled:
		return lifecycle.ByReconcile
	case payments.ReadLive:
		return lifecycle.ByLiveRead
	}
	return lifecycle.ByWebhook
}

// EventOf is the event's id for the history, nil for what is none of the gateway's.
func EventOf(e payments.Event) *string { return lifecycle.Filled(e.ID) }

// IsOthers reports whether the ledger has a payment as that of something else.
func IsOthers(sub lifecycle.Row, known *payments.LedgerPayment) bool {
	return known != nil && (known.Purpose != payments.ForSubscription || known.LocalID != sub.ID)
}
