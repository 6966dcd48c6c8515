package settle

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/jobs"
	"marquee/platform/objectid"
)

// LateMoneyArgs reads money live that would open a subscription which has ended, or that
// nobody here ordered: gateway A's webhooks are not signed, and whoever has the token
// could have a subscription opened, or lengthened for ever.
type LateMoneyArgs struct {
	SubscriptionID  objectid.ID `json:"subscription_id"`
	PaymentID       string      `json:"payment_id"`
	EventID         string      `json:"event_id"`
	First           bool        `json:"first"`
	ChargeID        objectid.ID `json:"charge_id,omitempty"`        // the code for a further period that the event names
	AuthorizationID string      `json:"authorization_id,omitempty"` // the one that the event names
	SettledAt       *time.Time  `json:"settled_at,omitempty"`       // as the event tells it: gateway A's payments know the day alone
	Misses          int         `json:"misses,omitempty"`           // looks that did not find it paid
}

// Kind names the job.
func (LateMoneyArgs) Kind() string { return "subscriptions_late_money" }

// InsertLateTx has the gateway asked for a payment at an instant.
func (s *Settler) InsertLateTx(ctx context.Context, tx pgx.Tx, a LateMoneyArgs, at time.Time) error {
	_, err := s.jobs.InsertTx(ctx, tx, a, &river.InsertOpts{Queue: jobs.QueueGateway, ScheduledAt: at})
	if err != nil {
		return fmt.Errorf("have late money read: %w", err)
	}
	return nil
}

// asksLiveTx has money of gateway A that comes after the subscription's end, or would
// lengthen it without having been ordered here, confirmed by the gateway first, by job:
// nothing is booked until then.
func (s *Settler) asksLiveTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Row, p Payment) (bool, error) {
	if lifecycle.TraitsOf(sub).SignsEvents || p.Source != state.ByWebhook {
		return false, nil
	}
	if !sub.Status.Ended() {
		if ordered, err := s.isOrderedTx(ctx, tx, sub, p); err != nil || ordered {
			return false, err
		}
	}
	known, err := s.payments.FindPayment(ctx, tx, sub.Gateway, p.ID)
	if err != nil || known != nil {
		return false, err
	}
	a := LateMoneyArgs{SubscriptionID: sub.ID, PaymentID: p.ID, EventID: lifecycle.Text(p.Event), First: p.First, SettledAt: p.SettledAt}
	if p.Charge != nil {
		a.ChargeID = p.Charge.ID
	}
	return true, s.InsertLateTx(ctx, tx, a, time.Time{})
}
