package checkout

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/jackc/pgx/v5"

	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/fault"
	"marquee/platform/objectid"
)

func errRenewalPending() error {
	return fault.Conflict("A renewal is still being confirmed. Your current subscription goes on meanwhile. Try again in a few minutes.")
}

// beginRenewalTx lets the new subscription wait beside the live subscription that it renews, and
// begin at the end of its paid time. A trial that has not ended goes on in it: it is
// the customer's one, and no other.
func (s *Checkout) beginRenewalTx(ctx context.Context, tx pgx.Tx, w *request, live lifecycle.Subscription) error {
	if live.Status != state.Active {
		return s.ConflictWith(ctx, tx, live)
	}
	if live.CancelAtPeriodEnd && !w.renews.CancelAtPeriodEnd {
		return fault.Conflict("Your subscription has just been set to end with its paid time. Renew it again if you want to keep it.")
	}
	if _, waiting, err := s.deps.Reads.WaitingRenewal(ctx, tx, live.CustomerID); err != nil || waiting {
		return errors.Join(err, errRenewalPending())
	}
	paid, err := s.deps.Reads.PaidUntil(ctx, tx, live)
	if err != nil {
		return err
	}
	now := s.deps.Clock.Now()
	switch {
	case paid == nil || paid.Sub(now) < lifecycle.LeastPaidTime:
		return nil
	case paid.Sub(now) > lifecycle.MostPaidTime:
		return fault.Conflict("Your subscription is paid until %s. Renew it later.", s.deps.Calendar.Day(*paid))
	}
	w.startsAt = paid
	if live.LastPaymentAt == nil {
		w.trial = int(live.TrialDays)
	}
	return nil
}

// renewsStillTx answers, for a customer without a live subscription, whether the request
// stands: what it renews may have been ended by its cancel, or by a withdrawal, since it
// was read. A PIX that the renewal itself has dropped was to end, and nobody else ended it.
func (s *Checkout) renewsStillTx(ctx context.Context, tx pgx.Tx, renewed lifecycle.Subscription) error {
	if !renewed.Status.Ended() {
		return fault.NotFound("Subscription")
	}
	last, err := s.db.TransitionGetLastReason(ctx, tx, renewed.ID)
	if err != nil {
		return fmt.Errorf("read why the renewed subscription ended: %w", err)
	}
	switch last {
	case state.ReasonCustomerCancelled, state.ReasonAdminCancelled, state.ReasonWithdrawn:
		return fault.NotFound("Subscription")
	}
	return nil
}

// DropWaiting ends a waiting renewal so that another can begin: one whose card still has to be
// authenticated, or to be charged, is ended at the gateway first. What turns out to be
// paid is settled instead. 409 while nobody knows what the gateway made of it.
func (s *Checkout) DropWaiting(ctx context.Context, customerID objectid.ID) error {
	waiting, ok, err := s.deps.Reads.WaitingRenewal(ctx, s.deps.Pool, customerID)
	if err != nil || !ok {
		return err
	}
	if waiting.IntentOpen {
		return s.ConflictWith(ctx, s.deps.Pool, waiting)
	}
	taken, err := s.deps.Recovery.Drop(ctx, waiting, state.Replaced, state.ByCustomer)
	switch {
	case err != nil:
		return s.deps.Payments.Refused(ctx, "end a waiting renewal", err)
	case taken:
		return fault.Conflict("Your renewal has just been confirmed.")
	}
	return nil
}

// ReadRenewal is GET /gwb/subscription while a renewal waits beside the subscription:
// it is read live, and the secret with which its payer authenticates is shown with
// the current one.
func (s *Checkout) ReadRenewal(ctx context.Context, sub, waiting lifecycle.Subscription,
	failed error,
) (lifecycle.Subscription, string, error) {
	if failed != nil || !waiting.NeedsStatusCheck() {
		return sub, "", failed
	}
	_, clientSecret, err := s.deps.Recovery.Resolve(ctx, waiting)
	if err != nil {
		s.deps.Log.WarnContext(ctx, "live read failed", slog.String("subscription_id", waiting.ID.String()),
			slog.Any("error", err))
		return sub, "", nil
	}
	sub, err = s.deps.Reads.Current(ctx, sub.CustomerID)
	return sub, clientSecret, err
}
