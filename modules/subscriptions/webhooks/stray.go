package webhooks

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/settle"
	"marquee/platform/jobs"
	"marquee/platform/objectid"
)

// absentTx looks for what most payments have nothing of, when an event tells that one settled. The caller holds the
// customer and the subscription: nothing of it comes about until the transaction ends, but for rows of the ledger,
// which RecordPaymentTx finds.
func (s *Locator) absentTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription, e gateway.Event,
) (settle.Absent, error) {
	paid, settled := e.Payload.(gateway.SettledPayment)
	if !settled {
		return settle.Absent{}, nil
	}
	row, err := s.db.SubscriptionCheckAbsent(ctx, tx, sub, paid.Payment.ID, e)
	if err != nil {
		return settle.Absent{}, fmt.Errorf("look for what the subscription has: %w", err)
	}
	return settle.Absent(row), nil
}

// repeatOthersTx reports whether an event names the subscription with a payment that the
// ledger has for something else: it pays that alone, whoever reports it. For one that was
// given to another row of the customer (/extend), what the gateway says since is recorded.
func (s *Locator) repeatOthersTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription, e gateway.Event,
	absent settle.Absent,
) (bool, error) {
	paid, settled := e.Payload.(gateway.SettledPayment)
	if !settled || absent.Others {
		return false, nil
	}
	known, err := s.deps.Payments.FindPayment(ctx, tx, e.Gateway, paid.Payment.ID)
	if err != nil || !settle.IsOthers(sub, known) {
		return false, err
	}
	if known.CustomerID == sub.CustomerID {
		err = s.BookTx(ctx, tx, sub, e.Gateway, paid.Payment)
	}
	return true, err
}

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
		Kind: payments.UnappliedForeign, Gateway: e.Gateway, PaymentID: p.ID, Amount: &p.Amount,
		CustomerID: sub.CustomerID, SubscriptionID: sub.ID, PaidAt: p.SettledAt,
		Note: "The event names the subscription, but is about " + string(why.reason) + ".",
	}
	if why.ours {
		u.Kind, u.Automatic = payments.UnappliedDuplicate, true
	}
	if err := s.BookTx(ctx, tx, sub, e.Gateway, p); err != nil {
		return err
	}
	if _, err := s.deps.Payments.Cases().RecordUnappliedTx(ctx, tx, u); err != nil || !why.ours {
		return err
	}
	return s.endStrayTx(ctx, tx, sub, e)
}

// BookTx takes a payment into the ledger and changes nothing of the subscription.
func (s *Locator) BookTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription, gw gateway.Name,
	p gateway.Payment,
) error {
	_, err := s.deps.Payments.RecordPaymentTx(ctx, tx, payments.Record{
		Gateway: gw, Purpose: gateway.ForSubscription, LocalID: sub.ID, CustomerID: sub.CustomerID, Payment: p,
	})
	return err
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

// endStrayTx has the recurrence behind a charge ended that is booked beside the
// subscription's own.
func (s *Locator) endStrayTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Subscription, e gateway.Event) error {
	if e.SubscriptionID == "" || e.SubscriptionID == sub.RemoteID() {
		return nil
	}
	return s.InsertEndStrayTx(ctx, tx, EndStrayArgs{
		Gateway: e.Gateway, RecurrenceID: e.SubscriptionID, SubscriptionID: sub.ID, PaymentID: e.PaymentID(),
	})
}

// InsertEndStrayTx has a recurrence ended that nobody owns.
func (s *Locator) InsertEndStrayTx(ctx context.Context, tx pgx.Tx, args EndStrayArgs) error {
	_, err := s.deps.Jobs.InsertTx(ctx, tx, args,
		&river.InsertOpts{Queue: jobs.QueueGateway, UniqueOpts: river.UniqueOpts{ByArgs: true}})
	if err != nil {
		return fmt.Errorf("queue the end of a recurrence: %w", err)
	}
	return nil
}
