package checkout

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/intent"
	"marquee/modules/subscriptions/lifecycle"
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
	sub, err := s.db.SubscriptionGet(ctx, s.deps.Pool, id)
	if err != nil || !sub.IntentOpen {
		return err
	}
	if err := s.Adopt(ctx, id); err != nil {
		return err
	}
	return s.deps.Intents.CheckOne(ctx, intent.Subscription, id)
}

// Adopt opens the intent that a row of the release before lacks.
func (s *Checkout) Adopt(ctx context.Context, id objectid.ID) error {
	if open, err := s.deps.Intents.IsOpen(ctx, s.deps.Pool, lifecycle.IntentOf(id)); err != nil || open {
		return err
	}
	sub, err := s.db.SubscriptionGet(ctx, s.deps.Pool, id)
	if err != nil {
		return err
	}
	return s.deps.Store.Locked(ctx, sub, func(tx pgx.Tx, locked lifecycle.Subscription) error {
		if !locked.IntentOpen {
			return nil
		}
		err := s.deps.Intents.OpenTx(ctx, tx, openingOf(locked, 0))
		if intent.AlreadyOpen(err) {
			return nil
		}
		return err
	})
}
