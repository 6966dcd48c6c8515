package strays

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
	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/webhooks"
	"marquee/platform/faultpoint"
)

// decisionWait is how soon it is looked again whether a person has decided about it.
const decisionWait = 5 * time.Minute

// EndStray ends a recurrence that no row owns, once it is decided that its money goes
// back: by a person, or by itself within the limits of automatic refunds. It is read
// live before; what is not known ends nothing. Neither does anything while too much is
// missing at the gateway, or after a restore.
func (s *Strays) EndStray(ctx context.Context, a webhooks.EndStrayArgs) error {
	state, err := s.deps.Payments.Cases().UnappliedStateOf(ctx, s.deps.Pool, a.Gateway, a.PaymentID)
	if err != nil {
		return err
	}
	switch state {
	case payments.UnappliedRefunding, payments.UnappliedRefunded:
	case payments.UnappliedOpen:
		byItself, err := s.deps.Payments.Cases().IsRefundedByList(ctx, s.deps.Pool, a.Gateway, a.PaymentID)
		if err == nil && !byItself {
			err = river.JobSnooze(decisionWait)
		}
		if err == nil {
			err = river.JobSnooze(webhooks.StrayWait)
		}
		return err
	default:
		return nil // a person has decided otherwise
	}
	if _, err := s.deps.Locator.LocateRemote(ctx, s.deps.Pool, a.Gateway, a.RecurrenceID); !errors.Is(err,
		pgx.ErrNoRows) {
		return err // a row owns it by now
	}
	stopped, err := s.deps.Payments.Comparison().RefundsStopped(ctx, s.deps.Pool)
	if err != nil {
		return err
	}
	suspect, err := s.deps.Payments.Intents().Health().Suspect(ctx, s.deps.Pool)
	if err != nil {
		return err
	}
	if stopped || slices.Contains(suspect, string(a.Gateway)) {
		return river.JobSnooze(webhooks.StrayWait)
	}
	gw, err := s.deps.Payments.Gateway(a.Gateway)
	if err != nil {
		return err
	}
	reference := a.SubscriptionID
	if a.CustomerID != "" {
		reference = ""
	}
	remote, err := gw.ReadSubscription(ctx, a.RecurrenceID, reference)
	if err == nil &&
		(remote.Status == gateway.RemoteCanceled || a.CustomerID != "" && remote.CustomerGatewayID != a.CustomerID) {
		return nil
	}
	if err != nil && !errors.Is(err, gateway.ErrMissing) { // one read ends nothing: what is missing is deleted, too
		return fmt.Errorf("read recurrence %s: %w", a.RecurrenceID, err)
	}
	s.deps.Log.WarnContext(ctx, "recurrence that no subscription owns is ended at the gateway",
		slog.String("gateway", string(a.Gateway)),
		slog.String("recurrence_id", a.RecurrenceID), slog.String("subscription_id", a.SubscriptionID.String()))
	if err := gw.CancelSubscription(ctx, a.RecurrenceID, reference); err != nil {
		return fmt.Errorf("end recurrence %s: %w", a.RecurrenceID, err)
	}
	faultpoint.Hit("stray.after_call")
	return nil
}
