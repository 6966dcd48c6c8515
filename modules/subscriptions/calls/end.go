package calls

import (
	"context"
	"errors"
	"log/slog"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/modules/subscriptions/state"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
)

// EndNow carries out at once the end that was committed with the row, and answers the row as it is after. What fails is
// repeated by the checks.
func (s *Calls) EndNow(ctx context.Context, sub lifecycle.Subscription) (lifecycle.Subscription, error) {
	if err := s.deps.Intents.CheckOne(context.WithoutCancel(ctx), intent.End, sub.ID); err != nil {
		s.deps.Log.WarnContext(ctx, "not ended at the gateway yet", slog.String("subscription_id", sub.ID.String()),
			slog.String("gateway", string(sub.Gateway)), slog.Any("error", err))
	}
	return s.db.SubscriptionGet(context.WithoutCancel(ctx), s.deps.Pool, sub.ID)
}

// EndAtGateway ends at the gateway whatever of a subscription is to end there: what has ended
// here, or would charge it beyond its paid time. When that fails the checks repeat it.
func (s *Calls) EndAtGateway(ctx context.Context, id objectid.ID) error { return s.end(ctx, id, "") }

// ConfirmEnd looks whether what an event told to have ended has, and ends it where it runs.
func (s *Calls) ConfirmEnd(ctx context.Context, id objectid.ID) error {
	return s.end(ctx, id, lifecycle.EndReported)
}

func (s *Calls) end(ctx context.Context, id objectid.ID, item string) error {
	sub, err := s.db.SubscriptionGet(ctx, s.deps.Pool, id)
	if err != nil || !sub.RunsThere() && !sub.Stops() {
		return err
	}
	return s.deps.Intents.Request(ctx, lifecycle.OpeningOfEnd(sub, item))
}

// Ends ends at the gateway whatever of a subscription is to end there, or does what is given where nothing is, which
// gets the item of the order.
func (s *Calls) Ends(other func(ctx context.Context, sub lifecycle.Subscription, item string) error) intent.Checker {
	return intent.Repeat(func(ctx context.Context, r intent.Ref) error {
		sub, err := s.db.SubscriptionGet(ctx, s.deps.Pool, r.Subject)
		switch {
		case err != nil:
			return err
		case r.Item == lifecycle.EndWithPeriod:
			return s.endWithPeriod(ctx, sub)
		case sub.RunsThere() && r.Item == lifecycle.EndReported:
			return s.confirmEnd(ctx, sub)
		case sub.RunsThere():
			return s.endThere(ctx, sub)
		case sub.Stops():
			return s.stopThere(ctx, sub)
		}
		return other(ctx, sub, r.Item)
	})
}

// endWithPeriod orders the end of the paid time again, unless the row says otherwise by now.
func (s *Calls) endWithPeriod(ctx context.Context, sub lifecycle.Subscription) error {
	if !sub.CancelAtPeriodEnd || sub.Status.Ended() {
		return nil
	}
	_, err := s.SetPeriodEnd(ctx, sub, true)
	return err
}

// confirmEnd reads what is said to have ended, and ends it where it runs, or nobody knows.
func (s *Calls) confirmEnd(ctx context.Context, sub lifecycle.Subscription) error {
	if sub.RemoteID() == "" {
		return s.endThere(ctx, sub)
	}
	gw, err := s.deps.Payments.Gateway(sub.Gateway)
	if err != nil {
		return err
	}
	remote, err := gw.ReadSubscription(ctx, sub.RemoteID(), sub.ID)
	if errors.Is(err, gateway.ErrMissing) || err == nil && remote.Status.Ended() {
		return s.recordEnded(ctx, sub)
	}
	if err == nil {
		s.deps.Log.WarnContext(ctx, "recurrence runs although an event says that it has ended: it is ended",
			slog.String("subscription_id", sub.ID.String()))
	}
	return s.endThere(ctx, sub)
}

// endThere ends at the gateway what has ended here, and notes that it has.
func (s *Calls) endThere(ctx context.Context, sub lifecycle.Subscription) error {
	if err := s.stopRemote(ctx, sub); err != nil {
		return err
	}
	return s.recordEnded(ctx, sub)
}

// recordEnded notes that the gateway has confirmed the end of what has ended here.
func (s *Calls) recordEnded(ctx context.Context, sub lifecycle.Subscription) error {
	return s.deps.Store.Locked(ctx, sub, func(tx pgx.Tx, locked lifecycle.Subscription) error {
		if !locked.Status.Ended() {
			return nil
		}
		now := s.deps.Clock.Now()
		return s.deps.Store.EditTx(ctx, tx, &locked, state.EndConfirmed,
			func(r *lifecycle.Subscription) { r.GatewayEndedAt = &now })
	})
}

// stopRemote ends whatever of the subscription runs at its gateway: recurrence,
// authorization, a code that could be paid. What is gone is no error.
func (s *Calls) stopRemote(ctx context.Context, sub lifecycle.Subscription) error {
	gw, err := s.deps.Payments.Gateway(sub.Gateway)
	if err != nil {
		return err
	}
	var failed error
	if id := sub.RemoteID(); id != "" {
		failed = gw.CancelSubscription(ctx, id, sub.ID)
	}
	if sub.GwaPixAuthID != nil {
		failed = errors.Join(failed, gw.CancelPixAuthorization(ctx, sub.AuthorizationRef()))
	}
	if id := nullable.Value(sub.PixPaymentID); id != "" &&
		sub.LastPaymentAt == nil { // an admin may have opened it unpaid
		err := gw.CancelPix(ctx, id, sub.ID)
		if !errors.Is(err, gateway.ErrMissing) && !errors.Is(err, gateway.ErrAlreadyPaid) {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}
