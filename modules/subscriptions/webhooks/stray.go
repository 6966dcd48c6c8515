package webhooks

import (
	"context"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/platform/jobs"
	"marquee/platform/objectid"
)

// listStrayTx: money is never kept in silence, also where nobody can apply it.
func (s *Locator) listStrayTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription, why stray,
	e gateway.Event,
) error {
	paid, settled := e.Payload.(gateway.SettledPayment)
	p := paid.Payment
	if !settled || p.Amount == 0 {
		return nil
	}
	s.deps.Log.WarnContext(ctx, "money that names a subscription and is not its own",
		slog.String("subscription_id", sub.ID.String()),
		slog.String("gateway", string(e.Gateway)), slog.String("payment_id", p.ID),
		slog.String("reason", string(why.reason)))
	u := payments.Unapplied{
		Kind: payments.UnappliedForeign,
		Note: "The event names the subscription, but is about " + string(why.reason) + ".",
	}
	if why.ours {
		u.Kind, u.Automatic = payments.UnappliedDuplicate, true
	}
	err := s.deps.Payments.BookUnappliedTx(ctx, tx, sub.Owner().At(e.Gateway), p, u)
	if err != nil || !why.ours || e.SubscriptionID == "" || e.SubscriptionID == sub.RemoteID() {
		return err
	}
	return s.InsertEndStrayTx(ctx, tx, EndStrayArgs{
		Gateway: e.Gateway, RecurrenceID: e.SubscriptionID, SubscriptionID: sub.ID, PaymentID: e.PaymentID(),
	})
}

// StrayWait is how soon it is looked at again whether the money of a recurrence that
// no row owns goes back: soon, as it goes on charging until then.
const StrayWait = 10 * time.Second

// EndStrayArgs ends at the gateway a recurrence that names one of our subscriptions, or
// is one of our customers', but belongs to no row.
type EndStrayArgs struct {
	Gateway        gateway.Name `json:"gateway"`
	RecurrenceID   string       `json:"recurrence_id"`
	SubscriptionID objectid.ID  `json:"subscription_id"`
	PaymentID      string       `json:"payment_id"` // the charge that told of it
	// CustomerID is the gateway's customer, of a recurrence that names none of our
	// subscriptions: it is that customer's, or nothing is ended.
	CustomerID string `json:"customer_id,omitempty"`
}

// Kind names the job.
func (EndStrayArgs) Kind() string { return "subscriptions_end_stray" }

// InsertEndStrayTx has a recurrence ended that nobody owns.
func (s *Locator) InsertEndStrayTx(ctx context.Context, tx pgx.Tx, args EndStrayArgs) error {
	return jobs.InsertTx(ctx, s.deps.Jobs, tx, args,
		&river.InsertOpts{Queue: jobs.QueueGateway, UniqueOpts: river.UniqueOpts{ByArgs: true}})
}
