package checkout

import (
	"context"
	"time"

	"marquee/modules/payments/intent"
	"marquee/platform/objectid"
)

// RecoverArgs asks the gateway what became of an intent whose answer was lost. Only
// the release before the schedule of checks inserts it.
type RecoverArgs struct {
	SubscriptionID objectid.ID `json:"subscription_id"`
	At             time.Time   `json:"at"` // tells the tries of one intent apart
}

// Kind names the job.
func (RecoverArgs) Kind() string { return "subscriptions_recover" }

// Recover checks an open intent at once. One that is not open is left alone, and so
// is one whose call may still be under way.
func (s *Checkout) Recover(ctx context.Context, id objectid.ID) error {
	return s.deps.Intents.CheckOne(ctx, intent.Subscription, id)
}
