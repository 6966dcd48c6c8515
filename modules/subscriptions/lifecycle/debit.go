package lifecycle

import (
	"time"

	"marquee/modules/payments/intent"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
)

// Debit is an automatic PIX's debit of a cycle.
type Debit subscriptionsdb.Debit

// IsNew reports whether nobody has tried to order it before.
func (d Debit) IsNew() bool { return d.SubscriptionID != "" && d.TriedAt.Equal(d.RegisterDate) }

// Ref names the intent of its order; the item is its cycle.
func (d Debit) Ref() intent.Ref {
	return intent.Ref{Kind: intent.Debit, Subject: d.SubscriptionID, Item: d.Cycle.Time.Format(time.DateOnly)}
}
