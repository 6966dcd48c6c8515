package subscriptions

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"marquee/modules/payments"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/platform/faultpoint"
	"marquee/platform/jobs"
	"marquee/platform/objectid"
)

// StrayWait is how soon it is looked at again whether the money of a recurrence that
// no row owns goes back: soon, as it goes on charging until then.
const StrayWait = 10 * time.Second

// EndStrayArgs ends at the gateway a recurrence that names a subscription of ours, or is
// a customer's of ours, and that no row owns.
type EndStrayArgs struct {
	Gateway        payments.GatewayName `json:"gateway"`
	RecurrenceID   string               `json:"recurrence_id"`
	SubscriptionID objectid.ID          `json:"subscription_id"`
	PaymentID      string               `json:"payment_id"` // the charge that told of it
	// CustomerID is the gateway's customer, of a recurrence that names no subscription of
	// ours: it is that one's, or nothing is ended.
	CustomerID string `json:"customer_id,omitempty"`
}

// Kind names the job.
func (EndStrayArgs) Kind() string { return "subscriptions_end_stray" }

// endStrayTx has the recurrence behind a charge ended that is booked beside the
// subscription's own.
func (s *Locator) endStrayTx(ctx context.Context, tx pgx.Tx, sub lifecycle.Row, e payments.Event) error {
	if e.SubscriptionID == "" || e.SubscriptionID == lifecycle.RemoteID(sub) {
		return nil
	}
	return s.InsertEndStrayTx(ctx, tx, EndStrayArgs{Gateway: e.Gateway, RecurrenceID: e.SubscriptionID, SubscriptionID: sub.ID, PaymentID: e.Payment.ID})
}

func (s *Locator) InsertEndStrayTx(ctx context.Context, tx pgx.Tx, args EndStrayArgs) error {
	_, err := s.jobs.InsertTx(ctx, tx, args, &river.InsertOpts{Queue: jobs.QueueGateway, UniqueOpts: river.UniqueOpts{ByArgs: true}})
	if err != nil {
		return fmt.Errorf("queue the end of a recurrence: %w", err)
	}
	return nil
}

// EndStray ends a recurrence that no row owns, once it is decided that its money goes
// back: by a person, or by itself within the limits of automatic refunds. It is read
// live before; what is not known ends nothing. Neither does anything while too much is
// missing at the gateway, or after a restore.
func (s *Strays) EndStray(ctx context.Context, a EndStrayArgs) error {
	state, err := s.payments.UnappliedStateOf(ctx, s.pool, a.Gateway, a.PaymentID)
	if err != nil {
		return err
	}
	switch state {
	case payments.UnappliedRefunding, payments.UnappliedRefunded:
	case payments.UnappliedOpen:
		return river.JobSnooze(StrayWait)
	default:
		return nil // a person has decided otherwise
	}
	if _, err := s.rowOfRecurrence(ctx, a); !errors.Is(err, pgx.ErrNoRows) {
		return err // a row owns it by now
	}
	held, err := s.payments.RefundsHeld(ctx, s.pool)
	if err != nil {
		return err
	}
	suspect, err := s.payments.Intents().Suspect(ctx, s.pool)
	if err != nil {
		return err
	}
	if held || slices.Contains(suspect, string(a.Gateway)) {
		return river.JobSnooze(StrayWait)
	}
	gateway, err := s.payments.Gateway(a.Gateway)
	if err != nil {
		return err
	}
	reference := a.SubscriptionID
	if a.CustomerID != "" {
		reference = ""
	}
	remote, err := gateway.ReadSubscription(ctx, a.RecurrenceID, reference)
	if err == nil && (remote.Status == payments.RemoteCanceled || a.CustomerID != "" && remote.CustomerGatewayID != a.CustomerID) {
		return nil
	}
	if err != nil && !errors.Is(err, payments.ErrGatewayMissing) { // one read ends nothing: what is missing is deleted, too
		return fmt.Errorf("read recurrence %s: %w", a.RecurrenceID, err)
	}
	s.log.WarnContext(ctx, "recurrence that no subscription owns is ended at the gateway", slog.String("gateway", string(a.Gateway)),
		slog.String("recurrence_id", a.RecurrenceID), slog.String("subscription_id", a.SubscriptionID.String()))
	if err := gateway.CancelSubscription(ctx, a.RecurrenceID, reference); err != nil {
		return fmt.Errorf("end recurrence %s: %w", a.RecurrenceID, err)
	}
	faultpoint.Hit("stray.after_call")
	return nil
}

func (s *Strays) rowOfRecurrence(ctx context.Context, a EndStrayArgs) (lifecycle.Row, error) {
	if a.Gateway == payments.GWA {
		return s.db.GetSubscriptionByGWAID(ctx, s.pool, &a.RecurrenceID)
	}
	return s.db.GetSubscriptionByGWBID(ctx, s.pool, &a.RecurrenceID)
}
