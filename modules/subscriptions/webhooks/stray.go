package webhooks

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/platform/jobs"
	"marquee/platform/objectid"
)

// BookTx takes a payment into the ledger and changes nothing of the subscription.
func (s *Locator) BookTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Row, gw gateway.Name, p gateway.Payment) error {
	_, err := s.payments.RecordPaymentTx(ctx, tx, payments.Record{
		Gateway: gw, Purpose: gateway.ForSubscription, LocalID: sub.ID, CustomerID: sub.CustomerID, Payment: p,
	})
	return err
}

// StrayWait is how soon it is looked at again whether the money of a recurrence that
// no row owns goes back: soon, as it goes on charging until then.
const StrayWait = 10 * time.Second

// EndStrayArgs ends at the gateway a recurrence that names a subscription of ours, or is
// a customer's of ours, and that no row owns.
type EndStrayArgs struct {
	Gateway        gateway.Name `json:"gateway"`
	RecurrenceID   string       `json:"recurrence_id"`
	SubscriptionID objectid.ID  `json:"subscription_id"`
	PaymentID      string       `json:"payment_id"` // the charge that told of it
	// CustomerID is the gateway's customer, of a recurrence that names no subscription of
	// ours: it is that one's, or nothing is ended.
	CustomerID string `json:"customer_id,omitempty"`
}

// Kind names the job.
func (EndStrayArgs) Kind() string { return "subscriptions_end_stray" }

// endStrayTx has the recurrence behind a charge ended that is booked beside the
// subscription's own.
func (s *Locator) endStrayTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Row, e gateway.Event) error {
	if e.SubscriptionID == "" || e.SubscriptionID == lifecycle.RemoteID(sub) {
		return nil
	}
	return s.InsertEndStrayTx(ctx, tx, EndStrayArgs{Gateway: e.Gateway, RecurrenceID: e.SubscriptionID, SubscriptionID: sub.ID, PaymentID: e.PaymentID()})
}

// InsertEndStrayTx has a recurrence ended that nobody owns.
func (s *Locator) InsertEndStrayTx(ctx context.Context, tx pgx.Tx, args EndStrayArgs) error {
	_, err := s.jobs.InsertTx(ctx, tx, args, &river.InsertOpts{Queue: jobs.QueueGateway, UniqueOpts: river.UniqueOpts{ByArgs: true}})
	if err != nil {
		return fmt.Errorf("queue the end of a recurrence: %w", err)
	}
	return nil
}
